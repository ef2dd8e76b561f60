import type { HistoryItem, Router } from '../../../../../client/browser.ts';
import { lengthOf, shortTime } from '../../../parts/times.ts';

/** What probably happened, in sentences, and where to look. */
export interface NextSteps {
  likely: string;
  look: readonly { text: string; href: string }[];
}

/** A job that ended so shortly before a router stopped answering is the first suspect, milliseconds. */
const SUSPECT_MS = 15 * 60_000;

/** Why a router does not answer (docs/states.md), and what a person on site or at a desk would look at. */
const ROUTER_CAUSES: Record<string, string> = {
  starting: 'The agent has only just begun to ask. Wait a minute.',
  refused:
    'Something is on at this address and refuses the API: the service is off, has another port, or the router is starting. Look at /ip service.',
  ssh_refused:
    'Something is on at this address and refuses SSH: the service is off, has another port, or the router is starting. Look at ssh in /ip service.',
  timeout: 'The router is off, its line is down, or a firewall drops what the agent sends.',
  no_route: 'The machine of the agent has no route to the router. Look at the cable and at its interface.',
  name_unknown: "The name in the agent's configuration cannot be resolved. Look at the DNS server of that machine.",
  login_refused: "The router refuses the agent's user or password. Somebody may have changed it on the router.",
  tls: "The certificate is not the one that the agent expects. Look at /ip service and at the agent's configuration.",
  host_key: 'The SSH host key is not the one that the agent knows: another device may have the address now.',
  closed: 'The router ends the connection. Look at its log: it may be short of memory, or allow fewer sessions.',
  credentials: 'A file with a password, key or certificate cannot be read on the machine of the agent.',
  not_reported: "The agent does not report this router any more: it is no longer in the agent's configuration.",
};

/** How the tunnel of an agent ended, and what that means. */
const AGENT_CAUSES: Record<string, string> = {
  left: 'The agent was stopped or restarted by somebody on its machine.',
  network: 'The connection was cut: the program of the agent died, or its network did.',
  silence: 'Nothing was heard any more: power, line or provider of the site.',
  revoked: 'The agent was revoked. Enrol a new one to reach this router again.',
  protocol: 'The agent broke the protocol. Look at its log, and update it.',
  version: 'The agent is too old for this control plane, or too new. Install the version of the control plane.',
  handshake_timeout: 'The agent connects and does not introduce itself: a slow line, or something in between that holds the connection.',
  server_stopped: 'The control plane was stopped or gave this agent to another one, and it has not come back since.',
  unknown: 'The control plane ended without a word, and this agent has not come back since.',
};

/** @returns undefined when there is nothing to do */
export function nextStepsOf(router: Router, deeds: readonly HistoryItem[]): NextSteps | undefined {
  const { state, state_reason: reason, agent_id: agentId, id } = router;
  const agent = { text: 'The agent, its sessions and its other routers', href: `/agents/${agentId}` };
  if (state === 'agent_away') return { likely: AGENT_CAUSES[reason ?? ''] ?? 'The agent is not connected.', look: [agent, tunnel(id)] };
  if (state === 'never_seen') return { likely: 'Its agent is configured for it and has not reached it yet.', look: [agent] };
  if (state !== 'not_answering') return undefined;
  const suspect = suspectOf(router, deeds);
  const cause = ROUTER_CAUSES[reason ?? ''] ?? 'The agent gave no reason that is known.';
  const look = [agent, { text: 'Backups, and what changed between them', href: `/routers/${id}/backups` }];
  if (!suspect) return { likely: cause, look };
  const age = lengthOf(Date.parse(router.state_since!) - Date.parse(suspect.until!));
  const job = { text: `Job ${suspect.title}, its script and output`, href: `/jobs/${id}/${suspect.id}` };
  return { likely: `Job ${suspect.title} ended ${age} before, at ${shortTime(suspect.until)}. ${cause}`, look: [job, ...look] };
}

function tunnel(id: string): { text: string; href: string } {
  return { text: 'Sessions and how each of them ended', href: `/routers/${id}/tunnel` };
}

function suspectOf({ state_since: since }: Router, deeds: readonly HistoryItem[]): HistoryItem | undefined {
  if (since === null) return undefined;
  const moment = Date.parse(since);
  return deeds.find(({ kind, until }) => {
    const before = until === null ? -1 : moment - Date.parse(until);
    return kind === 'job' && before >= 0 && before < SUSPECT_MS;
  });
}
