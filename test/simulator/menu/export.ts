import type { RouterState } from '../state.ts';
import type { MenuDefinition } from './definition.ts';
import type { CommandCall, CommandResult } from './types.ts';

export function exportMenus(router: RouterState, menus: readonly MenuDefinition[], path: string, call: CommandCall): CommandResult {
  void [router, menus, path, call];
  return { rows: [] };
}
