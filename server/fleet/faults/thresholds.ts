/** Thresholds of the health rules. docs/health-rules.md shows these numbers; a test keeps both equal. */

/** A fault at `bad` or worse, healthy at `good` or better; values in between change nothing. */
export interface Limits {
  readonly bad: number;
  readonly good: number;
}

export interface CelsiusLimits {
  readonly cold: number;
  readonly cool: number;
  readonly warm: number;
  readonly hot: number;
}

/** Percent of all processors. */
export const CPU: Limits = { bad: 90, good: 75 };
/** Boards are rated for up to 60-70 °C ambient; sensors inside read somewhat higher. */
export const BOARD_CELSIUS: CelsiusLimits = { cold: -30, cool: -25, warm: 75, hot: 80 };
/** Processors and switch chips throttle at 100-105 °C. */
export const CHIP_CELSIUS: CelsiusLimits = { cold: -30, cool: -25, warm: 88, hot: 95 };
/** Copper modules run at 80 °C in a full switch; the makers' limit for industrial ones is 85 °C, with 5 °C for the sensor. */
export const SFP_CELSIUS: CelsiusLimits = { cold: -30, cool: -25, warm: 85, hot: 90 };
/** A board may be this much warmer inside than its tested ambient temperature. */
export const INSIDE_CELSIUS = 20;
/** Hysteresis where the limit comes from the product. */
export const MARGIN_CELSIUS = 5;
/** The supply ranges of all boards lie between 8 V and 57 V (802.3af/at). */
export const VOLTS = { low: 8, lowGood: 8.3, highGood: 57, high: 57.5 } as const;
/** Percent free. Boards with 16 MB of flash always have little free space, but below this no update fits. */
export const DISK_FREE: Limits = { bad: 5, good: 8 };
/** Certificates, schedulers and logs tolerate an error of a minute. */
export const CLOCK_SECONDS: Limits = { bad: 60, good: 30 };
/** New NAND may have 2 % by its data sheet; far beyond, the flash is wearing out. Percent. */
export const BAD_BLOCKS: Limits = { bad: 5, good: 4 };
/** Reference signal received power: below -120 dBm modems lose the cell. */
export const LTE_DBM: Limits = { bad: -120, good: -115 };
/** Below -88 dBm the slowest rates fail. */
export const WIRELESS_DBM: Limits = { bad: -88, good: -83 };
