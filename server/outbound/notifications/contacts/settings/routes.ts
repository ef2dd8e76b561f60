import { z } from 'zod';
import { invalidField } from '../../../../platform/core/errors.ts';
import type { App } from '../../../../platform/http/app.ts';
import { commonErrors, envelope, success } from '../../../../platform/http/envelope.ts';
import { LOCALES } from '../../texts/types.ts';
import { kindEntries } from '../../topics/fields.ts';
import { ownerOf } from '../routes.ts';
import type { ContactRoutesDeps } from '../routes.ts';
import type { SettingsChange } from '../service.ts';
import { CONTACT_CHANNELS, DIGEST_PERIODS } from '../types.ts';
import type { Person } from '../types.ts';

const MINUTES_OF_DAY = 1440;

const minute = z
  .int()
  .min(0)
  .max(MINUTES_OF_DAY - 1)
  .describe('Minutes since midnight');
const settingsExample = {
  locale: 'es' as const,
  time_zone: 'Europe/Madrid',
  quiet_from: 1320,
  quiet_to: 420,
  critical_breaks_through: true,
  default_channel: 'email' as const,
  digest: 'daily' as const,
  digest_at: 480,
  digest_kinds: ['job.*', 'fault.high_cpu'],
};
const settingsFields = z.object({
  locale: z.enum(LOCALES).nullable().describe('Language of your notifications; null: English'),
  time_zone: z.string().max(100).nullable().describe('IANA name; null: UTC'),
  quiet_from: minute.nullable().describe('Begin of your quiet hours, in minutes since midnight; null: none'),
  quiet_to: minute.nullable().describe('End of your quiet hours, on the next day if not after `quiet_from`'),
  critical_breaks_through: z.boolean().describe('Critical notifications come in quiet hours, too'),
  default_channel: z.enum(CONTACT_CHANNELS).nullable().describe('How you are told as a recipient of a group; null: by email'),
  digest: z
    .enum(DIGEST_PERIODS)
    .nullable()
    .describe('How often you get in one message what can wait: everything of the severity `info`; null: it comes at once'),
  digest_at: minute.describe('When a daily digest is sent, in minutes since midnight'),
  digest_kinds: kindEntries.describe('Kinds that can wait as well, except what is critical; a final * matches every kind with that prefix'),
});
const settingsSchema = settingsFields.meta({ id: 'NotificationSettings', examples: [settingsExample] });
const settingsBody = settingsFields.partial().meta({ id: 'NotificationSettingsChange', examples: [{ locale: 'de' as const }] });

const tags = ['account'];

/** How and when people want to be told. Nobody can set it for them. */
export function settingsRoutes(app: App, { contacts }: Pick<ContactRoutesDeps, 'contacts'>): void {
  app.get(
    '/api/me/notification-settings',
    { schema: { tags, summary: 'Read how and when you want to be told', response: { 200: envelope(settingsSchema), ...commonErrors } } },
    async (request) => success(presentSettings(await contacts.person(ownerOf(request, false)))),
  );
  app.patch(
    '/api/me/notification-settings',
    {
      schema: {
        tags,
        summary: 'Change how and when you want to be told; missing fields stay unchanged',
        description: 'It holds in all your teams. Give `quiet_from` and `quiet_to` together.',
        body: settingsBody,
        response: { 200: envelope(settingsSchema), ...commonErrors },
      },
    },
    async (request) => {
      const owner = ownerOf(request, true);
      const { locale, time_zone: timeZone, default_channel: defaultChannel } = request.body;
      const digest = readDigest(request.body);
      const quiet = readQuiet(request.body, await contacts.person(owner));
      return success(presentSettings(await contacts.change(owner, { locale, timeZone, quiet, defaultChannel, digest })));
    },
  );
}

function readDigest({ digest: every, digest_at: at, digest_kinds: kinds }: z.infer<typeof settingsBody>): SettingsChange['digest'] {
  return every === undefined && at === undefined && kinds === undefined ? undefined : { every, at, kinds };
}

function readQuiet(body: z.infer<typeof settingsBody>, { settings }: Person): Person['settings']['quiet'] | undefined {
  const { quiet_from: from, quiet_to: to, critical_breaks_through: critical } = body;
  if (from === undefined && to === undefined && (critical === undefined || settings.quiet === null)) return undefined;
  const kept = settings.quiet;
  const hours = from === undefined && to === undefined ? { from: kept!.from, to: kept!.to } : { from: from ?? null, to: to ?? null };
  if (hours.from === null && hours.to === null) return null;
  if (hours.from === null) throw invalidField('quiet_from', 'is missing, although quiet_to is given');
  if (hours.to === null) throw invalidField('quiet_to', 'is missing, although quiet_from is given');
  return { from: hours.from, to: hours.to, criticalBreaksThrough: critical ?? kept?.criticalBreaksThrough ?? true };
}

function presentSettings({ settings }: Person): z.infer<typeof settingsSchema> {
  const { quiet, digest } = settings;
  return {
    locale: LOCALES.find((locale) => locale === settings.locale) ?? null,
    time_zone: settings.timeZone,
    quiet_from: quiet?.from ?? null,
    quiet_to: quiet?.to ?? null,
    critical_breaks_through: quiet?.criticalBreaksThrough ?? true,
    default_channel: settings.defaultChannel,
    digest: digest.every,
    digest_at: digest.at,
    digest_kinds: [...digest.kinds],
  };
}
