import { ROLES, type Role } from '../platform/core/principal.ts';
import type { Administration, Input, Option } from './command.ts';

/** Options that several commands share. */

export const TEAM: Option = { value: 'T', help: 'team, by id or name', required: true };

export function role(help: string, required: boolean): Option {
  return { value: 'R', help: `${help}: ${ROLES.join(', ')}`, required, choices: ROLES };
}

/** The parser has checked the choice. */
export function roleOf(input: Input): Role | undefined {
  return input.option('role') as Role | undefined;
}

export async function teamIdOf({ teams }: Administration, input: Input): Promise<string> {
  return (await teams.findTeam(input.need('team'))).id;
}
