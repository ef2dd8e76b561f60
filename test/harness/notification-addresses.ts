import { GroupAddresses } from '../../server/outbound/notifications/contacts/addresses.ts';
import { ContactsService } from '../../server/outbound/notifications/contacts/service.ts';
import type { Channels } from '../../server/outbound/notifications/channels/set.ts';
import { AcknowledgeVisits } from '../../server/outbound/notifications/leaving/acknowledging.ts';
import type { AuditLine } from '../../server/outbound/notifications/leaving/acknowledging.ts';
import { VapidKeyring } from '../../server/outbound/notifications/channels/web-push/keyring.ts';
import { MessageLinks } from '../../server/outbound/notifications/leaving/links.ts';
import { MessageVisits } from '../../server/outbound/notifications/leaving/service.ts';
import { AddressProofs } from '../../server/outbound/notifications/proofs/service.ts';
import { TargetsService } from '../../server/outbound/notifications/targets/service.ts';
import type { Clock } from '../../server/platform/core/clock.ts';
import type { AddressRules } from '../../server/platform/core/public-address.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import type { NotifyBench } from './notify-bench.ts';

export interface Addresses {
  contacts: ContactsService;
  targets: TargetsService;
  groupAddresses: GroupAddresses;
  messageLinks: MessageLinks;
  messageVisits: MessageVisits;
  proofs: AddressProofs;
  pushKeys: VapidKeyring;
}

/** Everything that knows addresses, over the given channels. */
export function makeAddresses(options: { storage: Storage; clock: Clock; channels?: Channels; rules?: AddressRules }): Addresses {
  const { storage, clock, channels = {}, rules = { allowLoopback: true } } = options;
  const secrets = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]);
  const publicUrl = 'https://signalbox.test';
  const proofs = new AddressProofs({ storage, clock, secrets });
  const signing = async (): Promise<string[]> => ['whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0'];
  const targets = new TargetsService({ storage, clock, secrets, proofs, channels, rules, signing, publicUrl });
  const contacts = new ContactsService({ storage, clock, secrets, proofs, channels, rules, publicUrl });
  const messageLinks = new MessageLinks({ secrets, publicUrl });
  return {
    contacts,
    targets,
    proofs,
    pushKeys: new VapidKeyring({ storage, clock, secrets }),
    messageLinks,
    messageVisits: new MessageVisits({ contacts, links: messageLinks }),
    groupAddresses: new GroupAddresses({ storage, contacts, targets }),
  };
}

/** The pages on which somebody takes a thread of the bench over. */
export function visitsOf(
  { messageLinks: links, contacts, targets }: Addresses,
  bench: NotifyBench,
  clock: Clock,
  record: (entry: AuditLine) => void = () => undefined,
): AcknowledgeVisits {
  const { threads, messages } = bench;
  return new AcknowledgeVisits({ clock, links, contacts, targets, threads, messages, audit: { record } });
}
