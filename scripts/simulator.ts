/** The RouterOS simulator alone: `npm run simulator -- --api-port 8728 --version 7.18.2 --model hAP-ac2`. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { MODEL_NAMES, startSimulator, type Simulator, type SimulatorOptions } from '../test/simulator/index.ts';

const HELP = `Usage: npm run simulator -- [options]

  --api-port N         API (plain TCP); 0 picks a free port, "off" disables it     [0]
  --api-tls-port N     API over TLS                                               [off]
  --tls KIND           self-signed, or anonymous (no certificate)                 [self-signed]
  --ssh-port N         SSH and SFTP                                               [0]
  --host ADDRESS       address to listen on                                       [127.0.0.1]
  --version V          RouterOS version                                           [7.18.2]
  --model M            one of ${MODEL_NAMES.join(', ')}
  --identity NAME      identity of the router                                     [MikroTik]
  --serial NUMBER      serial number; default: derived from the identity
  --username U         user for API and SSH                                       [admin]
  --password P         its password                                               ['']
  --group G            full, read or write                                        [full]
  --reader U=P         a second user and its password, of the group read
  --clock T            ISO time, or "unset" for 1970 after each boot
  --device-mode M      advanced or home                                           [advanced]
  --latency-ms N       wait before every API reply                                [0]
  --host-behind A=B    connect address A behind the router to B (repeatable)
  --namespace NAME     dst-nat with nftables in this network namespace (needs root)
  --blank              no addresses, leases or firewall
  --split-every-byte   send every byte of the API in its own segment
  --help               print this help
`;

const spec = {
  'api-port': { type: 'string' },
  'api-tls-port': { type: 'string' },
  tls: { type: 'string' },
  'ssh-port': { type: 'string' },
  host: { type: 'string' },
  version: { type: 'string' },
  model: { type: 'string' },
  identity: { type: 'string' },
  serial: { type: 'string' },
  username: { type: 'string' },
  password: { type: 'string' },
  group: { type: 'string' },
  reader: { type: 'string' },
  clock: { type: 'string' },
  'device-mode': { type: 'string' },
  'latency-ms': { type: 'string' },
  'host-behind': { type: 'string', multiple: true },
  namespace: { type: 'string' },
  blank: { type: 'boolean' },
  'split-every-byte': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

class UsageError extends Error {}

function number(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most) throw new UsageError(`--${name} must be a number from 0 to ${most}, not "${text}"`);
  return value;
}

/** Undefined keeps the default. */
function port(name: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  return text === 'off' ? null : number(name, text, 65_535);
}

function hostsBehind(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [behind = '', real = ''] = pair.split('=');
      if (behind === '' || real === '') throw new UsageError(`--host-behind: must be two addresses joined by "=", not "${pair}"`);
      return [behind, real];
    }),
  );
}

function reader(pair: string | undefined): { name: string; password: string; group: string }[] {
  if (pair === undefined) return [];
  const [name = '', password = ''] = pair.split('=');
  if (name === '' || password === '') throw new UsageError(`--reader: must be a user and a password joined by "=", not "${pair}"`);
  return [{ name, password, group: 'read' }];
}

function readOptions(args: string[]): Partial<SimulatorOptions> | 'help' {
  const { values } = parseArgs({ args, options: spec, strict: true });
  if (values.help === true) return 'help';
  const tls = values.tls ?? 'self-signed';
  if (tls !== 'self-signed' && tls !== 'anonymous') throw new UsageError(`--tls must be self-signed or anonymous, not "${tls}"`);
  const all = {
    apiPort: port('api-port', values['api-port']),
    apiTlsPort: port('api-tls-port', values['api-tls-port']),
    sshPort: port('ssh-port', values['ssh-port']),
    tls: tls === 'self-signed' ? ('self-signed' as const) : undefined,
    host: values.host,
    version: values.version,
    model: values.model,
    identity: values.identity,
    serialNumber: values.serial,
    clock: values.clock,
    deviceMode: values['device-mode'],
    latencyMs: values['latency-ms'] === undefined ? undefined : number('latency-ms', values['latency-ms'], 600_000),
    users: [{ name: values.username ?? 'admin', password: values.password ?? '', group: values.group ?? 'full' }, ...reader(values.reader)],
    hosts: hostsBehind(values['host-behind'] ?? []),
    network: values.namespace === undefined ? undefined : { namespace: values.namespace },
    blank: values.blank,
    splitEveryByte: values['split-every-byte'],
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function announce(simulator: Simulator): void {
  const { options, model } = simulator.router;
  const lines: string[] = [`RouterOS ${options.version} on ${model.boardName}, identity ${options.identity}`];
  if (simulator.apiPort > 0) lines.push(`api ${options.host}:${simulator.apiPort}`);
  if (simulator.apiTlsPort > 0) lines.push(`api-ssl ${options.host}:${simulator.apiTlsPort}`);
  if (simulator.sshPort > 0) lines.push(`ssh ${options.host}:${simulator.sshPort} host key ${simulator.sshFingerprint}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const simulator = await startSimulator(options);
  announce(simulator);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
  await simulator.close();
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`simulator: ${error instanceof Error ? error.message : String(error)}\n(--help lists the options)\n`);
  process.exitCode = 1;
}
