import { z } from 'zod';
import { numberAsSecrets, readObject, wordsOf } from '../channels/http.ts';
import type { Receipt, Undelivered } from '../channels/types.ts';
import { whatsappOffReason } from '../channels/whatsapp.ts';

/**
 * What Meta says of WhatsApp messages: `statuses` among the changes of a webhook
 * (developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components#statuses-object). Pure.
 */

const document = z.object({
  entry: z.array(z.object({ changes: z.array(z.object({ value: z.object({ statuses: z.array(z.unknown()).optional() }) })) })),
});

const text = z.string().optional().catch(undefined);
const status = z.object({
  // `wamid.` and base64.
  id: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  status: z.string(),
  /** Seconds since 1970. */
  timestamp: z.coerce.number().int().positive().max(1e11).optional().catch(undefined),
  recipient_id: text,
  errors: z
    .array(z.object({ code: z.number(), title: text, message: text, error_data: z.object({ details: text }).optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
type Status = z.infer<typeof status>;

/** What is not about messages of ours, or not known, is left out: Meta would say again what is refused. */
export function readWhatsappStatuses(body: string): Receipt[] {
  const read = document.safeParse(readObject(body));
  const all = (read.data?.entry ?? []).flatMap(({ changes }) => changes.flatMap(({ value }) => value.statuses ?? []));
  return all.flatMap((one) => receiptOf(status.safeParse(one).data) ?? []);
}

function receiptOf(one: Status | undefined): Receipt | undefined {
  if (one === undefined) return undefined;
  const { id: ref, timestamp } = one;
  const at = timestamp === undefined ? {} : { at: timestamp * 1000 };
  switch (one.status) {
    case 'delivered':
    case 'read':
      return { ref, ...at, says: one.status };
    case 'failed':
      return { ref, ...at, says: undelivered(one) };
    default:
      return undefined;
  }
}

function undelivered({ errors, recipient_id: number = '' }: Status): Undelivered {
  const [error] = errors ?? [];
  if (!error) return { detail: '' };
  const { code, title, message, error_data: data } = error;
  const words = [title ?? message, data?.details].filter((part) => part !== undefined && part !== '');
  const addressOff = whatsappOffReason(code);
  const detail = wordsOf(`${code} ${words.join(': ')}`, number === '' ? [] : numberAsSecrets(`+${number}`));
  return { detail, ...(addressOff === undefined ? {} : { addressOff }) };
}
