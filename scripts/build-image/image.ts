import { createHash } from 'node:crypto';
import type { Architecture } from './elf.ts';
import type { Library } from './libraries.ts';
import { FIXED_MTIME, tar } from './tar.ts';
import type { TarEntry } from './tar.ts';

export interface ImageParts {
  architecture: Architecture;
  /** Version of the agent; tag of the image. */
  version: string;
  node: Buffer;
  nodeLicense: Buffer;
  libraries: readonly Library[];
  agent: Buffer;
  /** Shown by `inspect`: what is in the image, by name. */
  labels: Readonly<Record<string, string>>;
}

export interface Image {
  archive: Buffer;
  /** Bytes of all files of the root folder. */
  unpackedBytes: number;
}

const AGENT = 'usr/local/lib/signalbox-agent.cjs';

/**
 * An archive as `docker save` writes it: one layer, not compressed, beside a manifest and a configuration. RouterOS reads no
 * other format from a file. The build is reproducible.
 */
export function packImage(parts: ImageParts): Image {
  const root = rootFolder(parts);
  const layer = tar(root);
  const layerDigest = sha256(layer);
  const config = Buffer.from(JSON.stringify(configuration(parts, layerDigest)));
  const configName = `${sha256(config)}.json`;
  const manifest = [{ Config: configName, RepoTags: [`signalbox-agent:${parts.version}`], Layers: [`${layerDigest}/layer.tar`] }];
  const archive = tar([
    file('manifest.json', Buffer.from(JSON.stringify(manifest))),
    file(configName, config),
    folder(`${layerDigest}/`),
    file(`${layerDigest}/layer.tar`, layer),
  ]);
  return { archive, unpackedBytes: root.reduce((total, { contents }) => total + (contents?.length ?? 0), 0) };
}

/**
 * The agent runs as root of the container, which is not root of the router: folders mounted from a router's disk belong to
 * root, and RouterOS cannot change their owner.
 */
function configuration({ architecture, labels }: ImageParts, layerDigest: string): object {
  const created = new Date(FIXED_MTIME * 1000).toISOString();
  return {
    architecture,
    os: 'linux',
    created,
    config: {
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      Entrypoint: ['/usr/bin/node', `/${AGENT}`],
      Cmd: ['run', '--config', '/etc/signalbox/agent.yaml'],
      WorkingDir: '/',
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layerDigest}`] },
    history: [{ created, created_by: 'signalbox build:image' }],
  };
}

function rootFolder({ node, nodeLicense, libraries, agent }: ImageParts): TarEntry[] {
  const files = [
    file('usr/bin/node', node, 0o755),
    file(AGENT, agent),
    file('usr/share/doc/node/LICENSE', nodeLicense),
    ...libraries.map((library) => file(library.path, library.contents, 0o755)),
    text('etc/passwd', 'root:x:0:0:root:/root:/sbin/nologin'),
    text('etc/group', 'root:x:0:'),
    text('etc/nsswitch.conf', 'hosts: files dns'),
  ];
  const own = [folder('tmp/', 0o1777), folder('root/', 0o700), folder('etc/signalbox/', 0o700), folder('var/lib/signalbox-agent/', 0o700)];
  // A container engine mounts its own there.
  const mounted = [folder('dev/'), folder('proc/'), folder('sys/')];
  const entries = [...files, ...own, ...mounted];
  const known = new Set(entries.map(({ path }) => path));
  const parents = new Set(entries.flatMap(({ path }) => foldersAbove(path)).filter((path) => !known.has(path)));
  return [...entries, ...[...parents].map((path) => folder(path))];
}

/** Parent folders of a path: `a/` and `a/b/` for `a/b/c`. */
function foldersAbove(path: string): string[] {
  const parts = path.replace(/\/$/, '').split('/').slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

function file(path: string, contents: Buffer, mode = 0o644): TarEntry {
  return { path, mode, contents };
}

function text(path: string, line: string): TarEntry {
  return file(path, Buffer.from(`${line}\n`));
}

function folder(path: string, mode = 0o755): TarEntry {
  return { path, mode };
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
