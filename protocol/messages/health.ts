import * as z from 'zod';
import { MAX_POE_PORTS, MAX_SENSORS, MAX_WAN_INTERFACES } from '../limits.ts';
import { routerList, routerName, routerText } from './common.ts';

const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

const signal = z.object({ interface: routerText(128), kind: z.enum(['lte', 'wireless']), dbm: z.number().min(-1000).max(1000).nullable() });

/** Health of a router. Null or empty: the router does not report it. */
export const healthReadings = z.object({
  /** Percent of all processors. */
  cpu_load: z.number().min(0).max(100).nullable().catch(null),
  /** Degrees Celsius, by the sensor's name on the router. */
  temperatures: routerList(z.object({ name: routerText(64), celsius: z.number().min(-300).max(1000) }), MAX_SENSORS),
  /** Volts at the supply. */
  voltage: z.number().min(-10_000).max(10_000).nullable().catch(null),
  /** Bytes. */
  free_memory: count.nullable().catch(null),
  total_memory: count.nullable().catch(null),
  free_hdd: count.nullable().catch(null),
  total_hdd: count.nullable().catch(null),
  /** The router's clock minus the agent's. */
  clock_offset_seconds: z.number().min(-1e11).max(1e11).nullable().catch(null),
  /** WAN interfaces that are not disabled. */
  wan: routerList(z.object({ interface: routerText(128), running: z.boolean() }), MAX_WAN_INTERFACES),
  /** Position of its GPS receiver in degrees; null without a receiver or a fix. */
  position: z
    .object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
    .nullable()
    .catch(null),
  // The following are absent when the agent is older than the reading, or the router has no such menu.
  /** States of the board's parts as words: `psu2-state` is `fail`. */
  states: routerList(z.object({ name: routerText(64), state: routerText(64) }), MAX_SENSORS).optional(),
  /** Revolutions per minute. */
  fans: routerList(z.object({ name: routerText(64), rpm: z.number().min(0).max(1e6) }), MAX_SENSORS).optional(),
  /** Output voltage of each power supply that has a sensor. */
  supplies: routerList(z.object({ name: routerText(64), volts: z.number().min(-10_000).max(10_000) }), MAX_SENSORS).optional(),
  /** PoE output ports, with RouterOS's word for their state. */
  poe: routerList(z.object({ interface: routerText(128), status: routerText(64) }), MAX_POE_PORTS).optional(),
  /** Bad blocks of the flash memory, percent. */
  bad_blocks: z.number().min(0).max(100).nullable().optional(),
  /** Disks in a bad state, with the router's word for it. */
  bad_disks: routerList(z.object({ name: routerText(64), state: routerText(64) }), MAX_SENSORS).optional(),
  /** Radio links to a provider or access point: dBm received; null when there is no link. */
  signals: routerList(signal, MAX_SENSORS).optional(),
});

/** Agent, about every minute for each router that answers. */
export const health = z.object({ type: z.literal('health'), router: routerName, readings: healthReadings });
