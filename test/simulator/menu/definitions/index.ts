import type { MenuDefinition } from '../definition.ts';
import { EXTRA_MENUS } from './extras.ts';
import { CONTAINER_MENUS } from './containers.ts';
import { FILE_MENUS } from './files.ts';
import { FIREWALL_MENUS } from './firewall.ts';
import { SCRIPT_MENUS } from './scripts.ts';
import { TOOL_MENUS } from './tools.ts';
import { ADDRESS_MENUS } from './addresses.ts';
import { INTERFACE_MENUS } from './interfaces.ts';
import { SERVICE_MENUS } from './services.ts';
import { SYSTEM_MENUS } from './system.ts';
import { TYPED_INTERFACE_MENUS, TYPED_NETWORK_MENUS, TYPED_SYSTEM_MENUS } from './typed.ts';
import { UPKEEP_MENUS } from './upkeep.ts';
import { USER_MENUS } from './users.ts';

/** Every menu of every version; the registry picks those of its own. Interfaces first, as in an export. */
export const ALL_MENUS: readonly MenuDefinition[] = [
  ...TOOL_MENUS,
  ...INTERFACE_MENUS,
  ...TYPED_INTERFACE_MENUS,
  ...TYPED_NETWORK_MENUS,
  ...CONTAINER_MENUS,
  ...ADDRESS_MENUS,
  ...FIREWALL_MENUS,
  ...EXTRA_MENUS,
  ...SERVICE_MENUS,
  ...SYSTEM_MENUS,
  ...TYPED_SYSTEM_MENUS,
  ...UPKEEP_MENUS,
  ...SCRIPT_MENUS,
  ...FILE_MENUS,
  ...USER_MENUS,
];
