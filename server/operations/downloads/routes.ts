import type { App } from '../../platform/http/app.ts';
import { AppError } from '../../platform/core/errors.ts';
import { installScript } from './install-script.ts';
import { AGENT_FILE } from './service.ts';
import type { AgentRelease } from './types.ts';

export interface DownloadServices {
  agentRelease: AgentRelease | null;
  /** The public address of this control plane, once it listens. */
  publicUrl: string;
}

/**
 * The agent for the machines beside the routers, which reach this control plane and perhaps nothing else. No credential is asked for: the
 * file is the same for everybody, and an agent needs a token to connect.
 */
export function downloadRoutes(app: App, { agentRelease: release, publicUrl }: DownloadServices): void {
  const schema = { hide: true } as const;
  app.get('/agent/release', { schema }, async (_request, reply) => {
    // Asked before somebody is told to fetch the agent: that there is none is an answer and no failure.
    if (release === null) return reply.type('application/json; charset=utf-8').send('null');
    const { version, sha256, bytes } = release;
    return { version, sha256, bytes, url: `${publicUrl}/agent/${AGENT_FILE}` };
  });
  app.get(`/agent/${AGENT_FILE}`, { schema }, async (_request, reply) => {
    const { file, sha256 } = known(release);
    return reply.type('text/javascript; charset=utf-8').header('etag', `"${sha256}"`).header('cache-control', 'no-cache').send(file);
  });
  app.get(`/agent/${AGENT_FILE}.sha256`, { schema }, async (_request, reply) => {
    // As `sha256sum --check` reads it.
    return reply.type('text/plain; charset=utf-8').send(`${known(release).sha256}  ${AGENT_FILE}\n`);
  });
  app.get('/agent/install.sh', { schema }, async (_request, reply) => {
    return reply.type('text/x-shellscript; charset=utf-8').send(installScript({ release: known(release), publicUrl }));
  });
}

function known(release: AgentRelease | null): AgentRelease {
  if (release) return release;
  throw new AppError(
    'not_found',
    'this control plane runs from a checkout without a built agent: npm run build:agent makes it; then start it again',
  );
}
