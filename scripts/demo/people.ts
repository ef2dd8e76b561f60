import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import type { DemoTeam } from './large-fleet.ts';
import { text } from './stage.ts';
import type { Stage } from './stage.ts';

export interface Admin {
  email: string;
  password: string;
}

export const admin: Admin = { email: process.env['DEMO_EMAIL'] ?? 'admin@example.test', password: 'signalbox-demo' };

/** A team with its administrator and an API key. */
export async function createTeam(stage: Stage, name: string): Promise<DemoTeam> {
  const teamId = text(await stage.signalbox('team', 'create', name), 'id');
  const passwordFile = path.join(stage.folder, 'admin-password');
  await writeFile(passwordFile, admin.password, { mode: 0o600 });
  await stage.signalbox('user', 'create', admin.email, '--team', teamId, '--role', 'admin', '--password-file', passwordFile);
  return { teamId, apiKey: text(await stage.signalbox('key', 'create', '--team', teamId, '--name', 'demo'), 'api_key') };
}
