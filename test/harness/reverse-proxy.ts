import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { waitUntil } from './wait-until.ts';

const text = await readFile(new URL('../../docs/reverse-proxy.md', import.meta.url), 'utf8');
const recipe = (kind: string): string => new RegExp(`^\`\`\`${kind}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)![1]!;

/** The recipe's own value of `SIGNALBOX_TRUST_PROXY`. */
export const TRUSTED = /^SIGNALBOX_TRUST_PROXY=(\S+)$/m.exec(text)![1]!;

export interface ProxyPlace {
  /** Holds `fullchain.pem` and `privkey.pem`; the proxy writes its own files here. */
  folder: string;
  port: number;
  /** The control plane's address. */
  upstream: string;
}

/** How each program is started with its recipe: file, content, command. */
const PROXIES = {
  nginx: {
    config: ({ folder, port, upstream }: ProxyPlace) => {
      const server = recipe('nginx')
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replaceAll('/etc/ssl/signalbox/', `${folder}/`)
        .replace('http://127.0.0.1:8080', upstream);
      return `daemon off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nuser root;\nevents {}\nhttp {\naccess_log off;\n${tempPaths(folder)}${server}}\n`;
    },
    args: (file: string, { folder }: ProxyPlace) => ['-c', file, '-p', folder],
  },
  caddy: {
    config: ({ folder, port, upstream }: ProxyPlace) => {
      const site = recipe('caddy')
        .replace(
          'signalbox.example.net {',
          `https://localhost:${port} {\n    bind 127.0.0.1\n    tls ${folder}/fullchain.pem ${folder}/privkey.pem`,
        )
        .replace('127.0.0.1:8080', upstream.replace('http://', ''));
      return `{\n    admin off\n    auto_https off\n}\n${site}`;
    },
    args: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
};

export type ProxyProgram = keyof typeof PROXIES;

function tempPaths(folder: string): string {
  return ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};\n`).join('');
}

export function isProxyMissing(program: ProxyProgram): boolean {
  const isMissing = spawnSync('which', [program]).status !== 0;
  if (isMissing) process.stderr.write(`${program} is not installed: its tests are skipped\n`);
  return isMissing;
}

/** A reverse proxy with the recipe of docs/reverse-proxy.md. Only addresses and certificate files are changed. */
export class ReverseProxy {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param isReady whether it answers @throws Error with what the program said when it does not in 10 s */
  static async start(program: ProxyProgram, place: ProxyPlace, isReady: () => Promise<boolean>): Promise<ReverseProxy> {
    const { config, args } = PROXIES[program];
    const file = path.join(place.folder, 'config');
    await writeFile(file, config(place));
    const child = spawn(program, args(file, place), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: place.folder },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const proxy = new ReverseProxy(child);
    try {
      await waitUntil(`${program} answers`, () => isReady().catch(() => false), 10_000);
      return proxy;
    } catch (error) {
      await proxy.close();
      throw new Error(output, { cause: error });
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}
