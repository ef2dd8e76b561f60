import type { HealthReadings } from '../../protocol/index.ts';
import type { Patience, Verdict } from './gate.ts';
import type { FaultType, Finding } from './types.ts';
import { inWords, short } from './words.ts';

/** One reading judged: the words are used when it opens or stays a fault. */
export interface Judgement extends Finding {
  verdict: Verdict;
}

/** A rule about what agents read from a router every minute. */
export interface HealthRule {
  type: FaultType;
  patience: Patience;
  /** Undefined: the router does not tell, so nothing changes. */
  judge(readings: HealthReadings): Judgement | undefined;
}

/** A backup, an export or a routing change keeps a processor busy for a minute or two; five are a fault. */
const BUSY: Patience = { toOpen: 5, toResolve: 3 };
/** One odd sample of a sensor is no fault. */
const STEADY: Patience = { toOpen: 2, toResolve: 2 };
/** What is well again at the first look is well again. */
const PROMPT: Patience = { toOpen: 2, toResolve: 1 };

const CPU = { bad: 90, good: 75 };
/** Boards are sold for an ambience of up to 60-70 °C; sensors inside show some more. */
const BOARD_CELSIUS = { cold: -30, cool: -25, warm: 75, hot: 80 };
/** Processors throttle at 100-105 °C. */
const CHIP_CELSIUS = { cold: -30, cool: -25, warm: 88, hot: 95 };
/** The lowest and the highest supply that any board is made for is 8 V and 57 V (802.3af/at). */
const VOLTS = { low: 8, lowGood: 8.3, highGood: 57, high: 57.5 };
/** Percent free. Boards with 16 MB of flash have little by nature, but below this no update fits. */
const DISK_FREE = { bad: 5, good: 8 };
/** Certificates, schedulers and logs put up with a minute. */
const CLOCK_SECONDS = { bad: 60, good: 30 };

function whichSide(value: number, limits: { bad: number; good: number }): Verdict {
  if (value >= limits.bad) return 'bad';
  return value <= limits.good ? 'good' : 'between';
}

const highCpu: HealthRule = {
  type: 'high_cpu',
  patience: BUSY,
  judge({ cpu_load: load }) {
    if (load === null) return undefined;
    return { verdict: whichSide(load, CPU), message: 'The processor is busy', cause: `processor load is ${short(load)} %` };
  },
};

type Sensor = HealthReadings['temperatures'][number];

function judgeSensor({ name, celsius }: Sensor): Verdict {
  const limits = /cpu|junction/.test(name) ? CHIP_CELSIUS : BOARD_CELSIUS;
  if (celsius >= limits.hot || celsius <= limits.cold) return 'bad';
  return celsius <= limits.warm && celsius >= limits.cool ? 'good' : 'between';
}

/** The verdict of several: one bad thing is bad, well is only what is well throughout. */
function worst(verdicts: Verdict[]): Verdict {
  if (verdicts.includes('bad')) return 'bad';
  return verdicts.every((verdict) => verdict === 'good') ? 'good' : 'between';
}

const temperature: HealthRule = {
  type: 'temperature',
  patience: STEADY,
  judge({ temperatures }) {
    if (temperatures.length === 0) return undefined;
    const odd = temperatures.filter((sensor) => judgeSensor(sensor) !== 'good');
    const shown = odd.length > 0 ? odd : temperatures;
    const tooCold = odd.some(({ celsius }) => celsius < 0);
    return {
      verdict: worst(temperatures.map(judgeSensor)),
      message: tooCold ? 'The router is too cold' : 'The router is too hot',
      cause: shown.map(({ name, celsius }) => `${name} is ${short(celsius)} °C`).join(', '),
    };
  },
};

function judgeVolts(volts: number): Verdict {
  if (volts < VOLTS.low || volts > VOLTS.high) return 'bad';
  return volts >= VOLTS.lowGood && volts <= VOLTS.highGood ? 'good' : 'between';
}

const voltage: HealthRule = {
  type: 'voltage',
  patience: STEADY,
  judge({ voltage: volts }) {
    // Boards without a sensor on this input print 0.
    if (volts === null || volts <= 0) return undefined;
    const message = volts < VOLTS.highGood ? 'The supply voltage is too low' : 'The supply voltage is too high';
    return { verdict: judgeVolts(volts), message, cause: `supply is ${short(volts)} V` };
  },
};

const disk: HealthRule = {
  type: 'disk_nearly_full',
  patience: STEADY,
  judge({ free_hdd: free, total_hdd: total }) {
    if (free === null || total === null || total === 0) return undefined;
    const percent = (100 * free) / total;
    return {
      verdict: whichSide(-percent, { bad: -DISK_FREE.bad, good: -DISK_FREE.good }),
      message: 'The disk is nearly full',
      cause: `${short(percent)} % (${Math.round(free / 1024)} of ${Math.round(total / 1024)} KiB) are free`,
    };
  },
};

const wan: HealthRule = {
  type: 'wan_down',
  patience: PROMPT,
  judge({ wan: interfaces }) {
    if (interfaces.length === 0) return undefined;
    const down = interfaces.filter(({ running }) => !running).map((line) => line.interface);
    const left = interfaces.length - down.length;
    return {
      verdict: down.length > 0 ? 'bad' : 'good',
      message: `WAN interface${down.length === 1 ? '' : 's'} ${down.join(', ')} down`,
      cause: left > 0 ? `not running; ${left} of ${interfaces.length} still are` : 'not running, and there is no other',
    };
  },
};

const clock: HealthRule = {
  type: 'clock_wrong',
  patience: PROMPT,
  judge({ clock_offset_seconds: offset }) {
    if (offset === null) return undefined;
    return {
      verdict: whichSide(Math.abs(offset), CLOCK_SECONDS),
      message: "The router's clock is wrong",
      cause: `it is ${inWords(Math.abs(offset))} ${offset < 0 ? 'behind' : 'ahead'}`,
    };
  },
};

export const HEALTH_RULES: readonly HealthRule[] = [highCpu, temperature, voltage, disk, wan, clock];
