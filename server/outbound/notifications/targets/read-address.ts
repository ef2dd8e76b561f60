import { invalidField } from '../../../platform/core/errors.ts';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import { TargetRefused, checkTarget } from '../../../platform/outgoing/target.ts';
import type { GivenAddress, TargetAddress, TargetChannel } from './types.ts';

/** Checks what a caller gives as the address of a target. Pure: nothing is looked up, the sender checks again when it connects. */

/** Workflow addresses of Microsoft Teams have some 400 characters. */
export const MAX_URL_CHARS = 2000;
export const MAX_TOKEN_CHARS = 500;

/** @throws AppError `invalid` that names the field and the reason */
export function readAddress(channel: TargetChannel, given: GivenAddress, rules: AddressRules): TargetAddress {
  refuseOthers(channel, given);
  switch (channel) {
    case 'slack':
      return { channel, url: readUrl(given.url, publicOnly(rules)) };
    case 'webhook':
      return { channel, url: readUrl(given.url, rules) };
    case 'teams':
      return { channel, url: readTeamsUrl(given.url, rules) };
    case 'pagerduty':
      return { channel, routingKey: matched('routing_key', given.routing_key, ROUTING_KEY), region: given.region ?? 'us' };
    case 'ntfy':
      return {
        channel,
        url: readServerUrl(given.url, rules),
        topic: matched('topic', given.topic, NTFY_TOPIC),
        token: given.token === undefined || given.token === null ? null : matched('token', given.token, TOKEN),
      };
    case 'gotify':
      return { channel, url: readUrl(given.url, rules), token: matched('token', given.token ?? undefined, TOKEN) };
    case 'telegram':
      return { channel, chatId: matched('chat_id', given.chat_id, CHAT_ID) };
  }
}

/** The fields of each channel. */
const FIELDS: Readonly<Record<TargetChannel, readonly (keyof GivenAddress)[]>> = {
  slack: ['url'],
  webhook: ['url'],
  teams: ['url'],
  pagerduty: ['routing_key', 'region'],
  ntfy: ['url', 'topic', 'token'],
  gotify: ['url', 'token'],
  telegram: ['chat_id'],
};

interface Form {
  pattern: RegExp;
  says: string;
}

const ROUTING_KEY: Form = { pattern: /^[A-Za-z0-9]{32}$/, says: 'must be the 32 letters and digits of an Events API v2 integration key' };
/** As ntfy checks it (server.go, topicRegex). */
const NTFY_TOPIC: Form = { pattern: /^[-_A-Za-z0-9]{1,64}$/, says: 'must be 1 to 64 letters, digits, hyphens and underscores' };
const TOKEN: Form = {
  pattern: new RegExp(`^[\\x21-\\x7e]{1,${MAX_TOKEN_CHARS}}$`),
  says: `must be 1 to ${MAX_TOKEN_CHARS} visible ASCII characters`,
};
const CHAT_ID: Form = {
  pattern: /^(?:-?\d{1,20}|@[A-Za-z]\w{4,31})$/,
  says: 'must be the number of a chat, like -1001234567890, or the @name of a public one',
};

function refuseOthers(channel: TargetChannel, given: GivenAddress): void {
  const other = (Object.keys(given) as (keyof GivenAddress)[]).find(
    (field) => given[field] !== undefined && !FIELDS[channel].includes(field),
  );
  if (other !== undefined) throw invalidField(`address.${other}`, `is not part of an address of ${channel}`);
}

function matched(field: keyof GivenAddress, value: string | undefined, { pattern, says }: Form): string {
  if (value === undefined) throw invalidField(`address.${field}`, 'is missing');
  if (!pattern.test(value)) throw invalidField(`address.${field}`, says);
  return value;
}

function readUrl(text: string | undefined, rules: AddressRules): string {
  const refused = (reason: string) => invalidField('address.url', reason);
  if (text === undefined) throw refused('is missing');
  const url = text.length > MAX_URL_CHARS ? null : URL.parse(text);
  if (url === null) throw refused(`must be a URL of at most ${MAX_URL_CHARS} characters`);
  if (url.username !== '' || url.password !== '') throw refused('must not contain a user name or password');
  if (url.hash !== '') throw refused('must not contain a fragment');
  try {
    checkTarget(url, rules);
  } catch (error) {
    if (!(error instanceof TargetRefused)) throw error;
    if (error.word === 'url_refused') throw refused('must begin with https://');
    throw refused('leads to an address that is not public; the operator can allow networks with SIGNALBOX_NOTIFY_PRIVATE');
  }
  return url.href;
}

/** ntfy cannot be hosted below a path (its `base-url` must not have one); what stands behind the host is mostly the topic. */
function readServerUrl(text: string | undefined, rules: AddressRules): string {
  const url = readUrl(text, rules);
  const { pathname, search } = new URL(url);
  if (pathname !== '/' || search !== '')
    throw invalidField('address.url', 'must be the address of the ntfy server without a path; the topic has a field of its own');
  return url;
}

const RETIRED_TEAMS =
  'is an Office 365 connector, which Microsoft has switched off; create a workflow in Teams ("Post to a channel when a webhook request is ' +
  'received") and give its address';

/** Nobody runs these services in a network of their own. */
function publicOnly({ allowLoopback }: AddressRules): AddressRules {
  return { allowLoopback };
}

function readTeamsUrl(text: string | undefined, rules: AddressRules): string {
  const url = readUrl(text, publicOnly(rules));
  const { hostname } = new URL(url);
  if (hostname === 'outlook.office.com' || hostname === 'webhook.office.com' || hostname.endsWith('.webhook.office.com'))
    throw invalidField('address.url', RETIRED_TEAMS);
  return url;
}

const HIDDEN = '•••';

/** What other people may see of the address: where it leads, and nothing that would let them write there. */
export function showAddress(address: TargetAddress): string {
  switch (address.channel) {
    case 'slack':
    case 'teams':
    case 'webhook':
      return `${new URL(address.url).origin}/…/${HIDDEN}`;
    case 'pagerduty':
      return `PagerDuty (${address.region}) ${HIDDEN}`;
    // Whoever knows the topic of a public server reads it.
    case 'ntfy':
    case 'gotify':
      return `${new URL(address.url).origin}/${HIDDEN}`;
    case 'telegram':
      return address.chatId;
  }
}

/** The same for two spellings of one address: the whole of it that decides where a message arrives. */
export function identityOf(address: TargetAddress): string {
  switch (address.channel) {
    case 'pagerduty':
      return `pagerduty ${address.routingKey}`;
    case 'telegram':
      return `telegram ${address.chatId.toLowerCase()}`;
    case 'ntfy':
      return `ntfy ${address.url} ${address.topic}`;
    case 'gotify':
      return `gotify ${address.url} ${address.token}`;
    default:
      return `${address.channel} ${address.url}`;
  }
}
