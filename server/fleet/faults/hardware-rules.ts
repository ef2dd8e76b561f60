import type { HealthReadings } from '../../../protocol/index.ts';
import type { Cause } from '../../platform/notices/causes.ts';
import type { Verdict } from './gate.ts';
import { PATIENT, STEADY, whichSide, worst } from './rule.ts';
import type { HealthRule, Judgement } from './rule.ts';
import { BAD_BLOCKS, LTE_DBM, VOLTS, WIRELESS_DBM } from './thresholds.ts';

/** A part of a router as one rule sees it; `seen` describes the reading. */
interface Part {
  name: string;
  verdict: Verdict;
  seen: Cause;
}

/** One fault for all parts of a kind; its message names the bad ones. */
function judgeParts(parts: readonly Part[], words: (names: string[]) => string): Judgement | undefined {
  if (parts.length === 0) return undefined;
  const odd = parts.filter(({ verdict }) => verdict !== 'good');
  const shown = odd.length > 0 ? odd : parts;
  // A part with two sensors is one part.
  const names = [...new Set(shown.map(({ name }) => name))];
  return { verdict: worst(parts.map(({ verdict }) => verdict)), message: words(names), causes: shown.map(({ seen }) => seen) };
}

const plural = (names: readonly string[], one: string, many: string): string => (names.length === 1 ? one : many);

type State = NonNullable<HealthReadings['states']>[number];

const FAILED = /^(?:fail|failed|failure|error|fault|faulty|bad|critical|dead|broken)$/;
const WELL = /^(?:ok|good|normal|on|present)$/;

/** Other states, such as `not-present`, are ignored. */
function partsOf(states: readonly State[], kind: RegExp): Part[] {
  return states
    .filter(({ name, state }) => kind.test(name) && (FAILED.test(state) || WELL.test(state)))
    .map(({ name, state }) => ({
      name: name.replace(/-state$/, ''),
      verdict: FAILED.test(state) ? 'bad' : 'good',
      seen: { code: 'part_state', name, state },
    }));
}

const POWER = /^(?:psu|power-supply)\d*-state$/;
const FAN = /^fan\d*-state$/;

/** Supplies without a state: 0 V while another supply has voltage means failed or unplugged. */
function suppliesOf(supplies: NonNullable<HealthReadings['supplies']>): Part[] {
  if (!supplies.some(({ volts }) => volts > 0)) return [];
  return supplies.map(({ name, volts }) => ({
    name: name.replace(/-voltage$/, ''),
    verdict: judgeSupply(volts),
    seen: { code: 'part_volts', name, volts },
  }));
}

function judgeSupply(volts: number): Verdict {
  if (volts < VOLTS.low || volts > VOLTS.high) return 'bad';
  return volts >= VOLTS.lowGood && volts <= VOLTS.highGood ? 'good' : 'between';
}

const powerSupply: HealthRule = {
  type: 'power_supply_failed',
  patience: STEADY,
  reads: '`/system/health` psu1-state, psu2-state, …; psu1-voltage, psu2-voltage, …',
  opens:
    `a state is fail, or a supply gives less than ${VOLTS.low} V or more than ${VOLTS.high} V while another works. ` +
    'An unplugged one counts',
  resolves: `every state is ok, and every supply gives ${VOLTS.lowGood} V to ${VOLTS.highGood} V`,
  judge({ states = [], supplies = [] }) {
    const parts = [...partsOf(states, POWER), ...suppliesOf(supplies)];
    return judgeParts(parts, (names) => `Power ${plural(names, 'supply', 'supplies')} ${names.join(', ')} failed`);
  },
};

/** Boards stop all fans while they are cool; one that is stopped while others turn is stuck. */
function fansOf(fans: NonNullable<HealthReadings['fans']>): Part[] {
  if (fans.length < 2 || !fans.some(({ rpm }) => rpm > 0)) return fans.map(({ name, rpm }) => turning(name, rpm));
  return fans.map(({ name, rpm }) => (rpm > 0 ? turning(name, rpm) : standing(name)));
}

/** `fan-state` covers all fans together. */
const fanName = (name: string): string => name.replace(/^fan$/, 'unit');
const partName = (name: string): string => name.replace(/-speed$/, '');
const standing = (name: string): Part => ({ name: partName(name), verdict: 'bad', seen: { code: 'fan_stands', name } });
const turning = (name: string, rpm: number): Part => ({ name: partName(name), verdict: 'good', seen: { code: 'fan_rpm', name, rpm } });

const fan: HealthRule = {
  type: 'fan_failed',
  patience: PATIENT,
  reads: '`/system/health` fan-state, fan1-state, …; fan1-speed, fan2-speed, …',
  opens: 'a state is fail, or a fan stands (0 RPM) while another turns',
  resolves: 'every state is ok, and all fans turn or all stand',
  judge({ states = [], fans = [] }) {
    const parts = [...partsOf(states, FAN), ...fansOf(fans)];
    return judgeParts(parts, (names) => `${plural(names, 'Fan', 'Fans')} ${names.map(fanName).join(', ')} failed`);
  },
};

/** Parts with a state in RouterOS and no rule of their own. */
const otherPart: HealthRule = {
  type: 'hardware_failed',
  patience: STEADY,
  reads: '`/system/health` every other property that ends in -state',
  opens: 'a state is fail',
  resolves: 'every state is ok',
  judge({ states = [] }) {
    const others = states.filter(({ name }) => !POWER.test(name) && !FAN.test(name));
    return judgeParts(partsOf(others, /-state$/), (names) => `${names.join(', ')} failed`);
  },
};

/** RouterOS's states of a port that fails to supply power. docs/health-rules.md gives the source of each. */
export const POE_FAULTS = [
  'overload',
  'short-circuit',
  'voltage-too-low',
  'voltage-too-high',
  'low-voltage-too-low',
  'low-voltage-pd-detected',
  'voltage-on-poe-in',
  'no-valid-PSU',
  'lldp-power-off',
  'controller-error',
] as const;
/** `current-too-low` is a load that draws less than 10 mA: an idle device, or one with a supply of its own. */
export const POE_WELL = ['powered-on', 'waiting-for-load', 'current-too-low', 'disabled', 'off'] as const;
/** Transitional states that last some seconds; they neither open nor resolve a fault. */
export const POE_BETWEEN = ['power-cycle', 'power_reset', 'controller-init', 'controller-upgrade'] as const;

const inLowerCase = (words: readonly string[]): ReadonlySet<string> => new Set(words.map((word) => word.toLowerCase()));
const [poeFaults, poeWell] = [inLowerCase(POE_FAULTS), inLowerCase(POE_WELL)];

/** Unknown states are ignored, like transitional ones. RouterOS versions differ in case: `no-valid-PSU`. */
function judgePoe(status: string): Verdict {
  const word = status.toLowerCase();
  if (poeFaults.has(word)) return 'bad';
  return poeWell.has(word) ? 'good' : 'between';
}

const poeOut: HealthRule = {
  type: 'poe_out_failed',
  patience: STEADY,
  reads: '`/interface/ethernet/poe/monitor` poe-out-status',
  opens: `a port says ${POE_FAULTS.join(', ')}`,
  resolves: `every port says ${POE_WELL.join(', ')}`,
  judge({ poe = [] }) {
    const parts = poe.map(({ interface: name, status }): Part => ({
      name,
      verdict: judgePoe(status),
      seen: { code: 'poe_status', name, status },
    }));
    return judgeParts(parts, (names) => `PoE out of ${names.join(', ')} failed`);
  },
};

function flashOf(percent: number | null): Part[] {
  if (percent === null) return [];
  return [{ name: 'flash', verdict: whichSide(percent, BAD_BLOCKS), seen: { code: 'bad_blocks', percent } }];
}

function disksOf(bad: HealthReadings['bad_disks']): Part[] {
  if (bad === undefined) return [];
  if (bad.length === 0) return [{ name: 'disks', verdict: 'good', seen: { code: 'disks_healthy' } }];
  return bad.map(({ name, state }) => ({
    name: name || 'disk',
    verdict: 'bad',
    seen: { code: 'part_state', name: name || 'disk', state },
  }));
}

const storage: HealthRule = {
  type: 'disk_failing',
  patience: STEADY,
  reads: '`/system/resource` bad-blocks; `/disk` state, raid-member-state, raid-member-failed, critical-warning',
  opens: `${BAD_BLOCKS.bad} % bad blocks or more, or a disk or array in a bad state (below)`,
  resolves: `${BAD_BLOCKS.good} % bad blocks or less, and no such disk`,
  judge({ bad_blocks: percent = null, bad_disks: disks }) {
    return judgeParts([...flashOf(percent), ...disksOf(disks)], (names) => `Storage is failing: ${names.join(', ')}`);
  },
};

type Signal = NonNullable<HealthReadings['signals']>[number];

function judgeSignal({ kind, dbm }: Signal): Verdict {
  if (dbm === null) return 'bad';
  const { bad, good } = kind === 'lte' ? LTE_DBM : WIRELESS_DBM;
  return whichSide(-dbm, { bad: -bad, good: -good });
}

const signal: HealthRule = {
  type: 'weak_signal',
  patience: PATIENT,
  reads:
    '`/interface/lte/monitor` (RouterOS 6: `info`) rsrp, registration-status; ' +
    '`/interface/wireless/registration-table` signal-strength of access points',
  opens: `LTE ${LTE_DBM.bad} dBm or less, or not registered; wireless ${WIRELESS_DBM.bad} dBm or less`,
  resolves: `LTE ${LTE_DBM.good} dBm or more; wireless ${WIRELESS_DBM.good} dBm or more`,
  judge({ signals = [] }) {
    const parts = signals.map((link): Part => {
      const { interface: name, dbm } = link;
      const seen: Cause = dbm === null ? { code: 'not_registered', name } : { code: 'signal_dbm', name, dbm };
      return { name, verdict: judgeSignal(link), seen };
    });
    return judgeParts(parts, (names) => `Weak signal on ${names.join(', ')}`);
  },
};

export const HARDWARE_RULES: readonly HealthRule[] = [powerSupply, fan, otherPart, poeOut, storage, signal];
