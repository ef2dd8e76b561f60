import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { waitUntil } from '../wait-until.ts';
import { freePort } from './postfix.ts';

/** Debian's Alertmanager as a process of this test, on a loopback port and without a cluster. */

const PROGRAM = '/usr/bin/prometheus-alertmanager';

export const hasAlertmanager = existsSync(PROGRAM);

export interface Alert {
  labels: Record<string, string>;
  startsAt: Date;
  /** In the future while it burns. */
  endsAt: Date;
}

export interface Alertmanager {
  post(alerts: readonly Alert[]): Promise<void>;
  close(): Promise<void>;
}

/** With its defaults beside `group_by`; it tells one webhook, also of ends. */
export async function startAlertmanager({
  webhookUrl,
  groupBy,
}: {
  webhookUrl: string;
  groupBy: readonly string[];
}): Promise<Alertmanager> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-alertmanager-'));
  const port = await freePort();
  const config = {
    route: { receiver: 'test', group_by: groupBy },
    receivers: [{ name: 'test', webhook_configs: [{ url: webhookUrl, send_resolved: true }] }],
  };
  const file = path.join(folder, 'alertmanager.yml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  const options = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn(PROGRAM, [...options, '--cluster.listen-address='], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  await waitUntil('Alertmanager is ready', async () => {
    if (child.exitCode !== null) throw new Error('Alertmanager ended');
    return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok;
  });
  return {
    post: async (alerts) => {
      const body = JSON.stringify(alerts.map(({ labels, startsAt, endsAt }) => ({ labels, startsAt, endsAt })));
      const answer = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      if (!answer.ok) throw new Error(`Alertmanager answered ${answer.status}: ${await answer.text()}`);
    },
    close: async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
