import { readFile } from 'node:fs/promises';
import { startAgent } from '../../../agent/app.ts';
import { parseConfig } from '../../../agent/config.ts';
import { collectBuffersWithObjects } from '../../../agent/core/buffer-garbage.ts';
import { enrol } from '../../../agent/link/enrol.ts';
import { disablePretenuring } from '../../../runtime/pretenuring.ts';
import { quietLog } from '../quiet-log.ts';

export interface AgentPartOptions {
  folder: string;
  server: string;
  enrolToken: string;
  caFile?: string;
  router: { apiPort: number; username: string; password: string };
  /** The router's user of terminals; none are opened without it. */
  terminal?: { port: number; username: string; password: string };
  /** The router's sshd; if given, all forwards use it. */
  sshd?: SshdOptions | undefined;
}

export interface SshdOptions {
  port: number;
  username: string;
  private_key_file: string;
}

/** One agent with one router, as `signalbox-agent run` starts it. */
export async function startAgentPart({ folder, server, enrolToken, caFile, router, terminal, sshd }: AgentPartOptions): Promise<void> {
  disablePretenuring();
  collectBuffersWithObjects();
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8');
  await enrol({
    server,
    token: enrolToken,
    name: 'bench',
    credentialsFile: `${folder}/credentials.json`,
    ...(ca === undefined ? {} : { ca }),
  });
  const config = parseConfig(
    {
      server,
      credentials: 'credentials.json',
      state: 'state',
      ...(caFile === undefined ? {} : { server_ca: caFile }),
      forwards: { allow: ['127.0.0.0/8'] },
      terminal: terminal ? 'read' : 'off',
      routers: [
        {
          name: 'router',
          host: '127.0.0.1',
          api: { port: router.apiPort, username: router.username, password: router.password },
          ...(terminal ? { terminal: { port: terminal.port, read: { username: terminal.username, password: terminal.password } } } : {}),
          ...(sshd ? { ssh: sshd, forward_way: 'ssh' } : {}),
        },
      ],
    },
    folder,
  );
  await startAgent(config, { log: quietLog });
}
