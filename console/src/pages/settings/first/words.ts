const NODE = 'Node 24 or later (node --version; sudo npm install --global --prefix /usr/local node@24 brings it)';

export const words = {
  title: 'Connect an agent.',
  about: 'An agent is a small service on one machine near your routers. It calls this control plane; nothing calls it.',
  /** What only administrators may do. */
  deed: 'Connecting an agent',
  step: {
    name: 'Name the agent',
    another: 'Another one',
    user: 'Make a user for it on each router',
    run: 'Run this on its machine',
    runForRouter: 'Run this on the machine of the control plane',
    linesLater: 'The command appears here, with a token that works once.',
    more: 'More routers, whenever you like',
    tell: 'Tell it its routers, and start it',
  },
  token: {
    name: 'Name of the agent',
    nameHint: 'Like its place: riga-dc-1',
    sites: 'Sites',
    site: 'Site',
    noSite: 'no site yet',
    act: 'Make the command',
  },
  lines: {
    kind: 'Kind of machine',
    needs: 'What it needs',
    label: 'Lines to run',
    copied: 'the lines',
    onRouter: 'docs/agent-in-routeros.md in the clone has every step.',
    ends: 'The token works once, until {time}. It is shown only now: after a reload you make another one, and another password in step 2.',
    used: 'The token has been used.',
    loopback: {
      linux:
        'Only this machine reaches {address}. For an agent on another one, set SIGNALBOX_LISTEN and SIGNALBOX_PUBLIC_URL to addresses that it reaches, and give the control plane a certificate.',
      docker:
        'A container does not reach {address}: that is the container itself. Set SIGNALBOX_LISTEN and SIGNALBOX_PUBLIC_URL to addresses that it reaches, and give the control plane a certificate.',
      routeros:
        'A router does not reach {address}: that is the router itself. Set SIGNALBOX_LISTEN and SIGNALBOX_PUBLIC_URL to addresses that it reaches, and give the control plane a certificate.',
    },
    noRelease:
      'This control plane has no built agent and cannot install it. npm run build:agent in its clone makes dist/signalbox-agent.cjs. Once the control plane is started again, this page has the script by itself: do not reload it.',
  },
  place: {
    linux: {
      name: 'Linux',
      needs: [
        'Linux with systemd, running: not in a container; in WSL only with systemd=true in /etc/wsl.conf',
        `${NODE}, outside of home folders: one of nvm does not do`,
        'curl or wget, and a user who may sudo',
      ],
      about: 'The script asks for the first router and starts a service.',
    },
    docker: {
      name: 'Compose',
      needs: ['Any machine with Docker and its Compose'],
      about: 'These lines start nothing. Step 4 has agent.yaml and its password, and ends with the line that starts the agent.',
    },
    hand: {
      name: 'By hand',
      needs: [NODE, 'curl; neither systemd nor root'],
      about: 'These lines enrol the agent. Step 4 has agent.yaml and its password, and ends with the lines that check and run it.',
    },
    routeros: {
      name: 'Container on RouterOS',
      needs: [
        'A router with ARM64 or 64-bit x86, RouterOS 7.15 or later with the container package, and device-mode container=yes',
        'A disk of its own in the router with 230 MB free, and on it the image: npm run build:image in a clone makes it',
        'The machine of the control plane, for this command (npx signalbox in a clone)',
      ],
      about: 'It prints lines, with a token of their own, that you paste into a terminal of the router.',
    },
  },
  /** By hand, when the control plane has no agent to hand out. */
  needsCopied: [NODE, 'signalbox-agent.cjs, copied from the clone of the control plane'],
  user: {
    routeros: 'The lines of the next step make it on the router, with a password of its own.',
    linux: 'In a terminal of the router. The password was made in this browser and is sent nowhere: keep it, the script asks for it.',
    docker:
      'In a terminal of the router. The password was made in this browser and is sent nowhere: step 4 puts it into agent/routers.password.',
    hand: 'In a terminal of the router. The password was made in this browser and is sent nowhere: step 4 puts it into a file.',
    again:
      'The same lines may be used on every router: then all have one password, and one password file does. Each time this page is opened it makes another password; routers keep the one that they were given.',
    rights: {
      title: 'What the rights are for',
      list: [
        'read, write, api: to watch the router and to run commands and scripts on it.',
        'ssh: for forwards by SSH.',
        'ftp, sensitive: for backups. A backup holds the passwords of the router; it is encrypted before it is stored.',
        'test, policy, password, reboot: for the undo guard of a script. It saves a backup on the router and, when a script cuts the router off, loads it again, which reboots the router.',
      ],
      less: 'Without a right, only what it is for does not work.',
    },
    label: 'Lines for the router',
    copied: 'what makes the user',
  },
  routers: {
    onRouter: 'The lines name the router itself. More routers go into agent.yaml on its disk.',
    written:
      'The script writes agent.yaml with the first one. For each other one, add lines like these, then sudo systemctl restart signalbox-agent.',
    logins: 'Logins stay on that machine: this control plane never holds one.',
    port: 'Where SSH has another port than 22, add port: 2222 to its line.',
    start: {
      docker: 'Then start it. After a change: docker compose restart.',
      hand: 'Then check it and run it. It runs in this terminal, as long as that is open; after a change, end it with Ctrl C and run it again.',
    },
    startLabel: 'Lines that start the agent',
    startCopied: 'what starts the agent',
    label: 'agent.yaml',
    copied: 'agent.yaml',
    password:
      'Both have the password of step 2, in one file, which only the user of the agent may read. These make it: type or paste the password, Enter, then Ctrl D.',
    otherPassword:
      'router-1.password has the password of the first router, and of every other one with the same lines of step 2. A router with another password has a file of its own, such as edge-2.password. These make it: type or paste the password, Enter, then Ctrl D.',
    passwordLabel: 'Lines for the password file',
    passwordCopied: 'what makes the password file',
    checkCommand: 'sudo signalbox-agent check',
    check: '{command} says what it reaches, and keeps nothing.',
  },
  progress: {
    title: 'What has happened',
    small: 'as it happens',
    token: 'Token used',
    agent: 'Agent connected',
    routers: 'Routers found',
    answer: 'First answer',
    waits: 'waits',
    notYet: 'not yet',
    /** Its name in agent.yaml, and what it calls itself. */
    router: (name: string, identity: string | undefined) => (identity === undefined || identity === name ? name : `${name} (${identity})`),
    answers: (router: string) => `${router} answers.`,
    first: 'This is the first line of your fleet.',
    next: '{page}, or {run}.',
    page: 'Its page',
    run: 'run a command on it',
  },
  unreached: { title: 'Not reached yet', small: 'as the agent says' },
  silent: { title: 'It stays silent', small: 'the usual reasons, most usual first' },
};
