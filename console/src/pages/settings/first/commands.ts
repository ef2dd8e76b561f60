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

export type Place = 'linux' | 'docker' | 'routeros';

/** A word that a shell reads as it is. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Lines to be copied: docs/agent.md and docs/agent-in-routeros.md. */
export function commandOf(place: Place, agent: NewAgent): string {
  const { server, token, name, team, hasRelease } = agent;
  switch (place) {
    case 'linux':
      return hasRelease
        ? [`curl -fsSO ${server}/agent/install.sh`, `sudo sh install.sh --token ${token} --name ${shellWord(name)}`].join('\n')
        : [
            `node signalbox-agent.cjs enrol --server ${server} --token ${token} \\`,
            `  --name ${shellWord(name)} --credentials /etc/signalbox/credentials.json`,
            'node signalbox-agent.cjs run --config /etc/signalbox/agent.yaml',
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
        `  --server-url ${server} --name ${shellWord(name)} > ${shellWord(`${name}.rsc`)}`,
      ].join('\n');
  }
}

/** SECURITY.md: the policies that an agent needs. */
const POLICIES = 'read,write,api,ssh,test,policy,sensitive,ftp,password';

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
type Configured = Pick<NewAgent, 'server'> & { name: string | undefined };

/** `agent.yaml` with one router, for those who do not have the script ask them. It names the agent where nothing else does. */
export function configOf(place: Place, { server, name }: Configured): string {
  const files =
    place === 'docker'
      ? [
          // A JSON text is a YAML text, whatever the name holds.
          ...(name === undefined ? [] : [`name: ${JSON.stringify(name)}`]),
          'credentials: /var/lib/signalbox-agent/credentials.json',
          'enrol_token_file: enrol-token.txt',
        ]
      : ['credentials: credentials.json'];
  return [
    `server: ${server}`,
    ...files,
    'state: /var/lib/signalbox-agent',
    'routers:',
    '  - name: edge-1',
    '    host: 192.168.88.1',
    '    ssh: { username: signalbox, password_file: edge-1.password }',
  ].join('\n');
}
