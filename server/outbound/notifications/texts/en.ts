import { countingIn, partsOf } from './catalogue.ts';
import { CAUSES } from '../../../platform/notices/causes.ts';
import type { Catalogue } from './catalogue.ts';
import type { Moment } from './times.ts';

const { number, count } = countingIn('en');
const routers = (n: number): string => count(n, { one: 'router', other: 'routers' });
const moment = ({ text, elsewhere }: Moment): string => (elsewhere === null ? text : `${text} (${elsewhere})`);

export const en: Catalogue = {
  locale: 'en',

  prefixes: {
    open: '',
    update: 'Update: ',
    resolve: 'Over: ',
    reminder: 'Still open: ',
    still_open: 'Still open: ',
    was_away: 'Over: ',
    digest: '',
    escalation: 'Not acknowledged: ',
    test: 'Test: ',
    flapping: 'Comes and goes: ',
    quiet: 'Quiet again: ',
    stays_open: 'Stays open: ',
  },
  takenOver: (person) => `${person} has taken this over`,
  tones: { critical: 'Critical', warning: 'Warning', info: 'Information', good: 'Over' },
  labels: {
    open: 'Open in Signalbox',
    confirm: 'Confirm this address',
    reasonOfProof: 'You get this because somebody has entered this address in Signalbox.',
    acknowledge: 'I take it over',
    unsubscribe: 'Unsubscribe',
    reason: (team) => `You get this because a notification group of the team ${team} names you.`,
  },

  faults: {
    router_offline: 'offline',
    agent_offline: 'agent away',
    wan_down: 'WAN down',
    temperature: 'temperature out of range',
    voltage: 'supply voltage out of range',
    power_supply_failed: 'power supply failed',
    fan_failed: 'fan failed',
    hardware_failed: 'hardware failure',
    poe_out_failed: 'PoE output failed',
    disk_failing: 'disk about to fail',
    weak_signal: 'weak radio signal',
    high_cpu: 'high CPU load',
    disk_nearly_full: 'disk nearly full',
    clock_wrong: 'clock wrong',
    move_requested: 'another agent claims this router',
    duplicate_serial: 'serial number used twice',
    devices_truncated: 'device list cut',
    rebooted: 'rebooted',
  },
  tooHot: 'too hot',
  tooCold: 'too cold',
  agentAway: 'agent away',
  agentWasAway: 'agent was away',
  agentBack: 'agent is back',
  notVisible: (n) => `${routers(n)} not visible`,
  stillOffline: (stillOpen, all) => `${number(stillOpen)} of ${routers(all)} still offline`,
  routersFault: (affected, of, fault) =>
    `${number(affected)} of ${routers(of)}${fault === 'router_offline' ? ' offline' : `: ${en.faults[fault]}`}`,
  jobs: (outcomes) =>
    partsOf(outcomes, [
      ['failed', (n) => `${count(n, { one: 'job', other: 'jobs' })} failed`],
      ['expired', (n) => `${count(n, { one: 'job', other: 'jobs' })} expired`],
      ['unknown', (n) => `${count(n, { one: 'job', other: 'jobs' })} with unknown outcome`],
      ['completed', (n) => `${count(n, { one: 'job', other: 'jobs' })} completed`],
    ]),
  campaign: {
    started: 'started',
    paused: 'paused',
    resumed: 'resumed',
    canceled: 'canceled',
    aborted: 'stopped itself',
    completed: 'finished',
  },
  campaignCounts: (counts) =>
    partsOf(counts, [
      ['failed', (n) => `${number(n)} failed`],
      ['unknown', (n) => `${number(n)} with unknown outcome`],
      ['expired', (n) => `${number(n)} expired`],
      ['running', (n) => `${number(n)} running`],
      ['completed', (n) => `${number(n)} completed`],
      ['skipped', (n) => `${number(n)} skipped`],
    ]),
  forward: { created: 'forward opened', lost: 'forward lost', closed: 'forward closed' },
  configChanged: 'configuration changed',
  linesChanged: (added, removed) => `${count(added, { one: 'line', other: 'lines' })} added, ${number(removed)} removed`,
  agentRevoked: 'agent revoked',
  deliveryFails: (address, channel) => `messages to ${address} (${channel}) fail`,
  channels: { email: 'email', webhook: 'webhook', web_push: 'web push' },
  server: { certificate: 'the TLS certificate needs attention', disk: 'disk space is running out' },
  contactLost: (affected, of) => `contact lost with ${number(affected)} of ${count(of, { one: 'agent', other: 'agents' })} at once`,
  storm: (sites, all) => `${sites === 0 ? '' : `${count(sites, { one: 'site', other: 'sites' })}, `}${routers(all)} affected`,
  digest: (events) => count(events, { one: 'event', other: 'events' }),
  heldBack: (n) => `${count(n, { one: 'more message', other: 'more messages' })} not sent`,

  thisServer: 'Signalbox server',
  thisTeam: (team) => `Team ${team}`,
  campaignNamed: (name) => `Campaign ${name}`,

  moment,
  since: (when) => `since ${moment(when)}`,
  at: (when) => (when.hasDate ? `on ${moment(when)}` : `at ${moment(when)}`),
  span: (from, to, duration) => `from ${moment(from)} to ${moment(to)}, ${duration}`,

  agentOfSite: (agent) => `The agent is ${agent}.`,
  routersHidden: (n) => `${routers(n)} cannot be seen while the agent is away. Whether they work is not known.`,
  routersBack: (n) => `${n === 1 ? 'Its router' : `All ${routers(n)}`} can be seen again.`,
  cause: (observation) => `Cause: ${observation}`,
  causes: CAUSES,
  firstWas: (name) => `The first was ${name}.`,
  openOf: (open, all) => `${number(open)} of ${number(all)} still open.`,
  openFor: (duration) => `Open for ${duration}.`,
  nobodyAcknowledged: (duration) => `Nobody has acknowledged this for ${duration}.`,
  comesAndGoes: (times, duration) =>
    `It came and went ${count(times, { one: 'time', other: 'times' })} within ${duration}. You hear again when it is quiet or stays.`,
  quietNow: 'It has been quiet since.',
  staysOpen: 'It does not go away by itself any more.',
  seeConsole: 'All of them are in Signalbox.',
  contactLostReason: 'The reason is probably the line of this server, not the sites.',
  routers,
  more: (n) => `and ${number(n)} more`,

  testSubject: 'Signalbox can reach you here',
  testOfGroup: (group, person) => `${person} has tested the notification group ${group}. Nothing has happened to your network.`,
  testOfAddress: (person) => `${person} has tested this address. Nothing has happened to your network.`,
  proofSubject: (code) => (code === null ? 'Confirm this address for Signalbox' : `Code ${code} confirms this address for Signalbox`),
  proofBy: (person) => `${person} wants to send notifications of Signalbox to this address.`,
  proofCode: (code, duration) => `Type in this code within ${duration}: ${code}`,
  proofLink: (duration) => `Open the link within ${duration} to confirm.`,
  notMe: 'If you do not know about this, do nothing: no further message will come.',
  bot: {
    proved: 'This chat is confirmed: notifications of Signalbox can reach you here now.',
    linkEnded: 'This link is too old or was used already; get a new one in Signalbox, where you set how you are told.',
    noLink: 'To be told here, open the link that Signalbox gives you where you set how you are told.',
  },
};
