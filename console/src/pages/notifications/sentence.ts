import type { Member, NotificationGroup, NotificationTarget, Schedule, Site, Topic } from '../../../../client/browser.ts';
import { channelName, listed, targetName } from './words.ts';
import { scheduleWords } from './week.ts';

/** Everything that groups name, by id. */
export interface Names {
  members: ReadonlyMap<string, Member>;
  targets: ReadonlyMap<string, NotificationTarget>;
  topics: ReadonlyMap<string, Topic>;
  sites: ReadonlyMap<string, Site>;
  schedules: ReadonlyMap<string, Schedule>;
  groups: ReadonlyMap<string, NotificationGroup>;
}

/** A part of a sentence. `strong`: what makes this group different from others; `loud`: what is wrong. */
export interface Piece {
  text: string;
  look?: 'strong' | 'loud';
}

const plain = (text: string): Piece => ({ text });
const strong = (text: string): Piece => ({ text, look: 'strong' });
const loud = (text: string): Piece => ({ text, look: 'loud' });

/** `Anna and Slack #noc are told of Outages at Depot Madrid, Mondays to Fridays 08:00–18:00.` */
export function groupSentence(group: NotificationGroup, names: Names): Piece[] {
  const who = whoOf(group, names);
  const topics = group.topics.map((id) => names.topics.get(id)?.name ?? 'a removed topic');
  if (who.length + topics.length === 0) return [loud('Nobody'), plain(' is told of anything by this group yet.')];
  return [
    who.length === 0 ? loud('Nobody') : strong(listed(who)),
    plain(verbOf(who.length, group)),
    topics.length === 0 ? loud('nothing') : strong(listed(topics)),
    ...placesOf(group, names),
    ...timesOf(group, names),
    plain('.'),
    ...escalationOf(group, names),
  ];
}

/** Who has no address yet that works is told of nothing. */
function verbOf(people: number, { reaches }: NotificationGroup): string {
  if (people > 0 && reaches === 0) return ' would be told of ';
  return people > 1 ? ' are told of ' : ' is told of ';
}

/** People with their channels, and the channels of the team. */
export function whoOf({ recipients, notifiables, targets }: NotificationGroup, names: Names): string[] {
  const ids = [...new Set([...recipients, ...notifiables.map(({ id }) => id)])];
  const people = ids.map((id) => {
    const channels = notifiables.filter((one) => one.id === id).map(({ channel }) => channelName(channel));
    const name = names.members.get(id)?.email ?? 'somebody who has left';
    if (channels.length === 0) return name;
    return `${name} (${recipients.includes(id) ? 'also ' : ''}by ${listed(channels)})`;
  });
  const places = targets.map((id) => {
    const target = names.targets.get(id);
    if (target === undefined) return 'a removed channel';
    return target.verified_at === null ? `${targetName(target)} (not confirmed yet)` : targetName(target);
  });
  return [...people, ...places];
}

function placesOf({ sites }: NotificationGroup, names: Names): Piece[] {
  if (sites.length === 0) return [plain(' everywhere')];
  return [plain(' at '), strong(listed(sites.map((id) => names.sites.get(id)?.name ?? 'a removed site')))];
}

function timesOf({ mute, schedule_id: id }: NotificationGroup, names: Names): Piece[] {
  if (mute === 'always') return [plain(', but it is '), loud('muted'), plain(' until an administrator ends that')];
  const schedule = id === null ? undefined : names.schedules.get(id);
  if (mute === 'never' || schedule === undefined) return [plain(', at any time')];
  return [plain(mute === 'schedule-active' ? ', ' : ', except '), strong(scheduleWords(schedule))];
}

function escalationOf({ escalate_after_minutes: minutes, escalate_to: to }: NotificationGroup, names: Names): Piece[] {
  if (minutes === null || to === null) return [];
  const name = names.groups.get(to)?.name ?? 'a removed group';
  return [
    plain(` If nobody takes it over within ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, `),
    strong(name),
    plain(' is told.'),
  ];
}

/** What keeps a group from telling anybody anything, and the way out; undefined when it reaches somebody. */
export function whyNobody({ recipients, notifiables, targets, topics, reaches }: NotificationGroup): string | undefined {
  if (recipients.length + notifiables.length + targets.length === 0) return 'It names nobody: add people or a channel.';
  if (topics.length === 0) return 'It follows no topic, so there is nothing to tell: choose topics.';
  if (reaches === 0) return 'Nobody in it has a confirmed address that is switched on: “Who is told” says what each one lacks.';
  return undefined;
}
