import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { isOneLine, ONE_LINE } from '../routeros-text/router-text.ts';
import { AgentError } from './core/errors.ts';

/**
 * The agent's YAML file. Read and checked once; router passwords and keys never leave this process.
 * Relative paths count from the folder of the file.
 */

const port = z.int().min(1).max(65_535);
const fingerprint = z.string().regex(/^(?:[0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}$/, 'must be a SHA-256 fingerprint: 32 bytes in hex');

const apiSchema = z.strictObject({
  port: port.optional(),
  tls: z.boolean().default(false),
  /** PEM file of the authority that signed the router's certificate. */
  ca: z.string().optional(),
  fingerprint: fingerprint.optional(),
  /** Accepts api-ssl without a certificate on the router: encrypted, but the router is not authenticated. Off by default. */
  anonymous_tls: z.boolean().default(false),
  username: z.string().min(1),
  password: z.string().optional(),
  password_file: z.string().optional(),
});

const sshSchema = z.strictObject({
  port: port.default(22),
  username: z.string().min(1),
  password: z.string().optional(),
  password_file: z.string().optional(),
  private_key_file: z.string().optional(),
  /** Pinned host key, `SHA256:…` as OpenSSH prints it. Without it the agent trusts the first key it sees and requires it later. */
  host_key: z
    .string()
    .regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, 'must look like SHA256:… as ssh-keygen -l prints it')
    .optional(),
});

/** The login of one level of terminals: a RouterOS user with the rights of that level. */
const terminalUserSchema = z
  .strictObject({
    username: z.string().min(1),
    password: z.string().optional(),
    password_file: z.string().optional(),
    private_key_file: z.string().optional(),
  })
  .refine((user) => user.password ?? user.password_file ?? user.private_key_file, {
    message: 'needs password, password_file or private_key_file',
  });

/** Users for terminals. The agent never uses its own login for them. */
const terminalSchema = z
  .strictObject({
    /** Default: `ssh.port`, or 22. */
    port: port.optional(),
    read: terminalUserSchema.optional(),
    full: terminalUserSchema.optional(),
  })
  .refine((terminal) => terminal.read ?? terminal.full, { message: 'needs read or full' });

const routerSchema = z
  .strictObject({
    name: z.string().min(1).max(64).refine(isOneLine, ONE_LINE),
    host: z.string().min(1).max(255),
    api: apiSchema.optional(),
    ssh: sshSchema.optional(),
    terminal: terminalSchema.optional(),
    /** How forwards reach the network behind this router. */
    forward_way: z.enum(['auto', 'ssh', 'api', 'direct']).default('auto'),
  })
  .refine((router) => router.api ?? router.ssh, { message: 'needs api or ssh' });

/** RFC 1918 and unique local addresses: the networks behind routers. The agent's loopback must be listed explicitly. */
const DEFAULT_ALLOW = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

/** All settings with their defaults. A test compares them with docs/settings.md. */
export const configSchema = z
  .strictObject({
    server: z.url({ protocol: /^(https?|wss?)$/ }),
    /** Of the agent, when it enrols with `enrol_token_file`; as long as the protocol allows. */
    name: z.string().min(1).max(255).refine(isOneLine, ONE_LINE).optional(),
    credentials: z.string().min(1),
    /** File with a one-use enrolment token. The first `run` enrols with it and removes the file. */
    enrol_token_file: z.string().min(1).optional(),
    state: z.string().min(1),
    /** PEM file of the authority that signed the control plane's certificate, where it is not a public one. */
    server_ca: z.string().optional(),
    forwards: z
      .strictObject({
        allow: z.array(z.union([z.cidrv4(), z.cidrv6()])).default(DEFAULT_ALLOW),
        max_connections: z.int().min(1).max(10_000).default(1000),
      })
      .default({ allow: DEFAULT_ALLOW, max_connections: 1000 }),
    /** The highest level of terminals that this agent opens; each needs a user in `routers[].terminal`. */
    terminal: z.enum(['off', 'read', 'full']).default('off'),
    log_level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    routers: z.array(routerSchema).min(1).max(500),
  })
  .refine((config) => new Set(config.routers.map((router) => router.name)).size === config.routers.length, {
    message: 'router names must differ',
    path: ['routers'],
  });

export type AgentConfig = Readonly<z.infer<typeof configSchema>>;
export type RouterConfig = AgentConfig['routers'][number];

/** Validates a parsed document and reports all errors at once. @throws AgentError `invalid` */
export function parseConfig(document: unknown, baseFolder: string): AgentConfig {
  const result = configSchema.safeParse(document);
  if (!result.success) throw new AgentError('invalid', `configuration:\n${z.prettifyError(result.error)}`);
  const absolute = (file: string): string => path.resolve(baseFolder, file);
  const { server_ca: serverCa, enrol_token_file: tokenFile, ...rest } = result.data;
  return Object.freeze({
    ...rest,
    ...(serverCa === undefined ? {} : { server_ca: absolute(serverCa) }),
    ...(tokenFile === undefined ? {} : { enrol_token_file: absolute(tokenFile) }),
    credentials: absolute(result.data.credentials),
    state: absolute(result.data.state),
    routers: result.data.routers.map((router) => withAbsoluteFiles(router, absolute)),
  });
}

function withAbsoluteFiles(router: RouterConfig, absolute: (file: string) => string): RouterConfig {
  const resolve = <T extends object>(part: T, keys: (keyof T)[]): T => {
    const copy = { ...part };
    for (const key of keys) {
      const value = copy[key];
      if (typeof value === 'string') copy[key] = absolute(value) as T[keyof T];
    }
    return copy;
  };
  return {
    ...router,
    ...(router.api ? { api: resolve(router.api, ['ca', 'password_file']) } : {}),
    ...(router.ssh ? { ssh: resolve(router.ssh, ['private_key_file', 'password_file']) } : {}),
    ...(router.terminal ? { terminal: withFilesOfUsers(router.terminal, resolve) } : {}),
  };
}

type Terminal = NonNullable<RouterConfig['terminal']>;
type TerminalUser = NonNullable<Terminal['read']>;

function withFilesOfUsers(terminal: Terminal, resolve: (user: TerminalUser, keys: (keyof TerminalUser)[]) => TerminalUser): Terminal {
  const user = (of: TerminalUser | undefined): TerminalUser | undefined => of && resolve(of, ['private_key_file', 'password_file']);
  return { ...terminal, read: user(terminal.read), full: user(terminal.full) };
}

/** Reads and validates the file. @throws AgentError `invalid` with the file and every error in it */
export async function loadConfig(file: string): Promise<AgentConfig> {
  let document: unknown;
  try {
    document = parseYaml(await readFile(file, 'utf8'));
  } catch (error) {
    throw new AgentError('invalid', `${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return parseConfig(document, path.dirname(path.resolve(file)));
}
