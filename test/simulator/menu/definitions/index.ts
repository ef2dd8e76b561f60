import type { MenuDefinition } from '../definition.ts';
import { ADDRESS_MENUS } from './addresses.ts';
import { INTERFACE_MENUS } from './interfaces.ts';
import { SERVICE_MENUS } from './services.ts';
import { SYSTEM_MENUS } from './system.ts';
import { USER_MENUS } from './users.ts';

/** Every menu of every version; the registry picks those of its own. Interfaces first, as in an export. */
export const ALL_MENUS: readonly MenuDefinition[] = [...INTERFACE_MENUS, ...ADDRESS_MENUS, ...SERVICE_MENUS, ...SYSTEM_MENUS, ...USER_MENUS];
