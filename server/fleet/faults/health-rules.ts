import type { HealthReadings } from '../../../protocol/index.ts';
import { HARDWARE_RULES } from './hardware-rules.ts';
import { BUSY, PROMPT, STEADY, whichSide, worst } from './rule.ts';
import type { Ambience, HealthRule } from './rule.ts';
import type { Verdict } from './gate.ts';
import {
  BOARD_CELSIUS,
  CHIP_CELSIUS,
  CLOCK_SECONDS,
  CPU,
  DISK_FREE,
  INSIDE_CELSIUS,
  MARGIN_CELSIUS,
  SFP_CELSIUS,
  VOLTS,
} from './thresholds.ts';
import type { CelsiusLimits } from './thresholds.ts';

const highCpu: HealthRule = {
  type: 'high_cpu',
  patience: BUSY,
  reads: '`/system/resource` cpu-load',
  opens: `${CPU.bad} % or more`,
  resolves: `${CPU.good} % or less`,
  judge({ cpu_load: load }) {
    if (load === null) return undefined;
    return { verdict: whichSide(load, CPU), message: 'The processor is busy', causes: [{ code: 'cpu_load', percent: load }] };
  },
};

type Sensor = HealthReadings['temperatures'][number];

/** The product's tested range may widen the limits, never narrow them. */
function boardLimits(ambience: Ambience | undefined): CelsiusLimits {
  if (!ambience) return BOARD_CELSIUS;
  const hot = Math.max(BOARD_CELSIUS.hot, ambience.max + INSIDE_CELSIUS);
  const cold = Math.min(BOARD_CELSIUS.cold, ambience.min - MARGIN_CELSIUS);
  return { cold, cool: cold + MARGIN_CELSIUS, warm: hot - MARGIN_CELSIUS, hot };
}

function limitsOf(name: string, ambience: Ambience | undefined): CelsiusLimits {
  const board = boardLimits(ambience);
  if (/sfp/.test(name)) return { ...SFP_CELSIUS, cold: board.cold, cool: board.cool };
  return /cpu|junction|switch|phy/.test(name) ? { ...CHIP_CELSIUS, cold: board.cold, cool: board.cool } : board;
}

function judgeSensor({ name, celsius }: Sensor, ambience: Ambience | undefined): Verdict {
  const limits = limitsOf(name, ambience);
  if (celsius >= limits.hot || celsius <= limits.cold) return 'bad';
  return celsius <= limits.warm && celsius >= limits.cool ? 'good' : 'between';
}

const temperature: HealthRule = {
  type: 'temperature',
  patience: STEADY,
  reads: '`/system/health` every sensor in °C',
  opens:
    `board ${BOARD_CELSIUS.hot} °C, SFP ${SFP_CELSIUS.hot} °C, processor, switch chip or PHY ${CHIP_CELSIUS.hot} °C or more; ` +
    `any ${BOARD_CELSIUS.cold} °C or less. By model: tested ambience + ${INSIDE_CELSIUS} °C and - ${MARGIN_CELSIUS} °C where that is wider`,
  resolves:
    `board ${BOARD_CELSIUS.warm} °C, SFP ${SFP_CELSIUS.warm} °C, processor, switch chip or PHY ${CHIP_CELSIUS.warm} °C or less; ` +
    `all ${BOARD_CELSIUS.cool} °C or more. By model: ${MARGIN_CELSIUS} °C inside its limits`,
  judge({ temperatures }, ambience) {
    if (temperatures.length === 0) return undefined;
    const odd = temperatures.filter((sensor) => judgeSensor(sensor, ambience) !== 'good');
    const shown = odd.length > 0 ? odd : temperatures;
    const tooCold = odd.some(({ celsius }) => celsius < 0);
    return {
      verdict: worst(temperatures.map((sensor) => judgeSensor(sensor, ambience))),
      message: tooCold ? 'The router is too cold' : 'The router is too hot',
      causes: shown.map(({ name, celsius }) => ({ code: 'celsius', name, celsius })),
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
  reads: '`/system/health` voltage, or the best of psu1-voltage, psu2-voltage, …',
  opens: `below ${VOLTS.low} V or above ${VOLTS.high} V; 0 V counts as no sensor`,
  resolves: `${VOLTS.lowGood} V to ${VOLTS.highGood} V`,
  judge({ voltage: volts }) {
    // Boards without a sensor on this input print 0.
    if (volts === null || volts <= 0) return undefined;
    const message = volts < VOLTS.highGood ? 'The supply voltage is too low' : 'The supply voltage is too high';
    return { verdict: judgeVolts(volts), message, causes: [{ code: 'input_volts', volts }] };
  },
};

const disk: HealthRule = {
  type: 'disk_nearly_full',
  patience: STEADY,
  reads: '`/system/resource` free-hdd-space, total-hdd-space',
  opens: `${DISK_FREE.bad} % free or less`,
  resolves: `${DISK_FREE.good} % free or more`,
  judge({ free_hdd: free, total_hdd: total }) {
    if (free === null || total === null || total === 0) return undefined;
    const percent = (100 * free) / total;
    return {
      verdict: whichSide(-percent, { bad: -DISK_FREE.bad, good: -DISK_FREE.good }),
      message: 'The disk is nearly full',
      causes: [{ code: 'disk_free', percent, free, total }],
    };
  },
};

const wan: HealthRule = {
  type: 'wan_down',
  patience: PROMPT,
  reads: '`/interface` running, of the interfaces that lead to the provider',
  opens: 'one of them does not run',
  resolves: 'all of them run',
  judge({ wan: interfaces }) {
    if (interfaces.length === 0) return undefined;
    const down = interfaces.filter(({ running }) => !running).map((line) => line.interface);
    const left = interfaces.length - down.length;
    return {
      verdict: down.length > 0 ? 'bad' : 'good',
      message: `WAN interface${down.length === 1 ? '' : 's'} ${down.join(', ')} down`,
      causes: [
        left > 0
          ? { code: 'wan_partly', interfaces: down.join(', '), left, all: interfaces.length }
          : { code: 'wan_none', interfaces: down.join(', ') },
      ],
    };
  },
};

const clock: HealthRule = {
  type: 'clock_wrong',
  patience: PROMPT,
  reads: "`/system/clock`, against the agent's clock",
  opens: `${CLOCK_SECONDS.bad} seconds or more, ahead or behind`,
  resolves: `${CLOCK_SECONDS.good} seconds or less`,
  judge({ clock_offset_seconds: offset }) {
    if (offset === null) return undefined;
    return {
      verdict: whichSide(Math.abs(offset), CLOCK_SECONDS),
      message: "The router's clock is wrong",
      causes: [{ code: 'clock_offset', seconds: offset }],
    };
  },
};

export const HEALTH_RULES: readonly HealthRule[] = [highCpu, temperature, voltage, disk, wan, clock, ...HARDWARE_RULES];
