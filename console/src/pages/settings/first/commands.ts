import { shellWord } from '../../../parts/shell-word.ts';

/** What the lines for a new agent are made of. */
export interface NewAgent {
  /** Address of the control plane. */
  server: string;
  token: string;
  name: string;
  team: string;
  /** False: this control plane has no built agent to hand out. */
  hasRelease: boolean;
}

export type Place = 'linux' | 'docker' | 'hand' | 'routeros';

/** How the agent comes to such a place: without a script to fetch, Linux is by hand. */
export function wayOf(place: Place, hasRelease: boolean): Place {
  return place === 'linux' && !hasRelease ? 'hand' : place;
}

/** Lines to be copied: docs/agent.md and docs/agent-in-routeros.md. */
export function commandOf(place: Place, agent: NewAgent): string {
  const { server, token, name, team, hasRelease } = agent;
  switch (wayOf(place, hasRelease)) {
    case 'linux':
      return [`curl -fsSO ${server}/agent/install.sh`, `sudo sh install.sh --token ${token} --name ${shellWord(name)}`].join('\n');
    case 'hand':
      return [
        ...(hasRelease ? [`curl -fsSO ${server}/agent/signalbox-agent.cjs`] : []),
        'mkdir -p agent',
        `node signalbox-agent.cjs enrol --server ${server} --token ${token} \\`,
        `  --name ${shellWord(name)} --credentials agent/credentials.json`,
      ].join('\n');
    case 'docker':
      return [
        'mkdir -p agent state && sudo chown 1000 state',
        ...(hasRelease ? [`curl -fsS -o agent/signalbox-agent.cjs ${server}/agent/signalbox-agent.cjs`] : []),
        `echo ${token} > agent/enrol-token.txt`,
        "cat > compose.yaml <<'END'",
        'services:',
        '  agent:',
        '    image: node:24-alpine',
        '    restart: unless-stopped',
        '    user: node',
        '    command: node /agent/signalbox-agent.cjs run --config /agent/agent.yaml',
        '    volumes: [./agent:/agent, ./state:/var/lib/signalbox-agent]',
        'END',
      ].join('\n');
    case 'routeros':
      return [
        `signalbox enrol-token create --team ${shellWord(team)} --routeros --disk disk1 \\`,
        `  --server-url ${server} --name ${shellWord(name)} > ${fileNameOf(name)}.rsc`,
      ].join('\n');
  }
}

/** A name for a file in the folder at hand, whatever the agent is called: `oslo dc/1` is `oslo-dc-1`. */
function fileNameOf(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[.-]+|[.-]+$/g, '') || 'agent';
}

/** SECURITY.md: the policies that an agent needs. */
const POLICIES = 'read,write,api,ssh,test,policy,sensitive,ftp,password,reboot';

/** Lines for a terminal of a router: a user for the agent. docs/agent.md has the certificate of the API, too. */
export function userLines(password: string): string {
  return [`/user/group/add name=signalbox policy=${POLICIES}`, `/user/add name=signalbox group=signalbox password="${password}"`].join(
    '\n',
  );
}

/** Without letters and digits that look alike, and with nothing that RouterOS or a shell would read. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const PASSWORD_LETTERS = 24;

/** Made in this browser and sent nowhere: 120 bits. */
export function newPassword(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(PASSWORD_LETTERS)), (byte) => LETTERS[byte % LETTERS.length]).join('');
}

/** What `agent.yaml` is made of. The name is undefined until somebody has given it. */
type Configured = Pick<NewAgent, 'server' | 'hasRelease'> & { name: string | undefined };

/** The script has written the file with the first router, called after its address, and its password in `router-1.password`. */
function isWritten(place: Place, hasRelease: boolean): boolean {
  return wayOf(place, hasRelease) === 'linux';
}

/** The folder of `agent.yaml`, as the lines to copy see it: one of their own, where nobody is root. */
function folderOf(place: Place, hasRelease: boolean): string {
  return isWritten(place, hasRelease) ? '/etc/signalbox' : 'agent';
}

/** Routers that have the same lines have the same password, and share its file: that of the script, or one to make. */
function sharedFile(place: Place, hasRelease: boolean): string {
  return isWritten(place, hasRelease) ? 'router-1.password' : 'routers.password';
}

/** What is written above the lines of {@link configOf}: the file, and whether they are all of it. */
export function titleOf(place: Place, hasRelease: boolean): string {
  const file = `${folderOf(place, hasRelease)}/agent.yaml`;
  return isWritten(place, hasRelease) ? `# at the end of ${file}` : `# ${file}`;
}

/**
 * `agent.yaml` with two routers; it names the agent where nothing else does. Where the script has written the file, only the lines of two
 * more routers, to be put at its end: `routers` is its last setting.
 */
export function configOf(place: Place, { server, name, hasRelease }: Configured): string {
  const login = `    ssh: { username: signalbox, password_file: ${sharedFile(place, hasRelease)} }`;
  const numbers = isWritten(place, hasRelease) ? [2, 3] : [1, 2];
  const routers = numbers.flatMap((number) => [`  - name: edge-${number}`, `    host: 192.168.88.${number}`, login]);
  if (isWritten(place, hasRelease)) return routers.join('\n');
  const files =
    place === 'docker'
      ? [
          // A JSON text is a YAML text, whatever the name holds.
          ...(name === undefined ? [] : [`name: ${JSON.stringify(name)}`]),
          'credentials: /var/lib/signalbox-agent/credentials.json',
          'enrol_token_file: enrol-token.txt',
        ]
      : ['credentials: credentials.json'];
  const state = place === 'docker' ? '/var/lib/signalbox-agent' : 'state';
  return [`server: ${server}`, ...files, `state: ${state}`, 'routers:', ...routers].join('\n');
}

/**
 * Makes the password file of the routers, which only the agent's user may read; where the script has made it, one for a router with another
 * password. The password is typed, so that no history of a shell has it.
 * docs/agent.md#more-routers
 */
export function passwordLines(place: Place, hasRelease: boolean): string {
  const file = `${folderOf(place, hasRelease)}/${isWritten(place, hasRelease) ? 'edge-2.password' : sharedFile(place, hasRelease)}`;
  // By hand, the agent runs as whoever copies this.
  if (wayOf(place, hasRelease) === 'hand') return [`install -m 600 /dev/null ${file}`, `tee ${file} >/dev/null`].join('\n');
  // In the container of the lines above, the agent is the image's user `node`; the script has made a user.
  const owner = place === 'docker' ? '1000' : 'signalbox-agent';
  return [`sudo install -m 600 -o ${owner} /dev/null ${file}`, `sudo tee ${file} >/dev/null`].join('\n');
}

/** Starts the agent, once it has its configuration; undefined where the lines of the step before do. */
export function startLines(place: Place, hasRelease: boolean): string | undefined {
  switch (wayOf(place, hasRelease)) {
    case 'docker':
      return 'docker compose up -d';
    case 'hand':
      return ['check', 'run'].map((deed) => `node signalbox-agent.cjs ${deed} --config agent/agent.yaml`).join('\n');
    default:
      return undefined;
  }
}
