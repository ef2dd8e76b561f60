import { countOf } from '../words.ts';
import type { Deed } from './caution.ts';

interface DeedWords {
  /** In a list: `changes addresses and a reboot`. */
  name: string;
  /** What it does to the router. */
  does: string;
  /** What the button does to these routers: `2 routers`, or a name. */
  action: (routers: string) => string;
}

const DEEDS: Record<Deed, DeedWords> = {
  reset: {
    name: 'a reset',
    does: 'A reset removes the configuration, with the addresses and logins by which the agent reaches the router. No undo guard helps: the reset removes the guard itself.',
    action: (routers) => `Reset ${routers}`,
  },
  load: {
    name: 'the load of a backup',
    does: 'The load of a backup replaces the configuration and reboots the router. No undo guard helps: the load removes the guard itself.',
    action: (routers) => `Load a backup on ${routers}`,
  },
  shutdown: {
    name: 'a shutdown',
    does: 'A shutdown stops the router until somebody goes there and switches it on.',
    action: (routers) => `Shut down ${routers}`,
  },
  format: {
    name: 'the format of a disk',
    does: 'Formatting a disk erases what is on it. Nothing brings it back.',
    action: (routers) => `Format a disk of ${routers}`,
  },
  downgrade: {
    name: 'a downgrade',
    does: 'A downgrade installs older packages and reboots the router. Everything behind the router is cut off for minutes.',
    action: (routers) => `Downgrade ${routers}`,
  },
  install: {
    name: 'an update',
    does: 'An update installs packages and reboots the router. Everything behind the router is cut off for minutes.',
    action: (routers) => `Update ${routers}`,
  },
  firmware: {
    name: 'a firmware upgrade',
    does: 'A firmware upgrade writes the boot loader. The router can fail to start if its power goes meanwhile. It takes effect at the next reboot.',
    action: (routers) => `Upgrade the firmware of ${routers}`,
  },
  reboot: {
    name: 'a reboot',
    does: 'A reboot cuts off the router and everything behind it until it is up again.',
    action: (routers) => `Reboot ${routers}`,
  },
};

export function deedName(deed: Deed): string {
  return DEEDS[deed].name;
}

export function deedDoes(deed: Deed): string {
  return DEEDS[deed].does;
}

/** What the button of a question says: the worst of what is done, and to how many. */
export function deedAction([worst]: readonly Deed[], routers: number): string {
  const many = countOf(routers, 'router');
  return worst === undefined ? `Run on ${many}` : DEEDS[worst].action(many);
}

/** @param name of the router, where it is only one */
export function deedQuestion(deeds: readonly Deed[], routers: number, name: string | undefined): string {
  if (routers !== 1 || name === undefined) return `${deedAction(deeds, routers)}?`;
  const [worst] = deeds;
  return `${worst === undefined ? `Run on ${name}` : DEEDS[worst].action(name)}?`;
}
