import { numberWords } from '../../parts/sizes.ts';

export const words = {
  terminals: 'Terminals',
  /** The record, in sentences about one that cannot be read. */
  terminal: 'terminal',
  router: 'router',
  columns: {
    router: 'Router',
    opener: 'Who',
    level: 'Level',
    reason: 'Reason',
    state: 'State',
    opened: 'Opened',
    acts: 'Actions',
    end: 'End',
    attach: 'Attach',
    recording: 'Recording',
  },
  list: {
    note: 'Shells on routers. Everything that a router prints is recorded.',
    filter: 'The name of a router, or status:open',
    filterHint: 'status:open, ended or all \u00a0 router:',
    count: (count: number) => `${numberWords(count)} ${count === 1 ? 'terminal' : 'terminals'}`,
    empty: 'No terminal has been opened.',
    emptyHint: "A router's page has one, if its agent allows it.",
    noMatch: 'No terminal matches.',
  },
  page: {
    title: 'Terminal',
    note: 'A shell on the router, through its agent. Everything it prints is recorded.',
    mayNot: 'Operators and administrators open terminals.',
    routers: 'Routers',
    thisRouter: 'This router',
    earlier: 'Terminals of this router',
    order: 'newest first',
    empty: 'Nobody has opened a terminal on this router.',
  },
  again: { isOpen: 'You have a terminal of the level {level} open on this router.', attach: 'Attach' },
  form: {
    level: 'Level',
    levels: { read: 'read: look at configuration and logs', full: 'full: change something' },
    levelHint: 'Each level is a user of its own on the router.',
    levelHintOnly: (level: string) => `The agent of this router opens no other level than ${level}.`,
    fullOnly: 'The agent of this router opens only terminals of the level full, and those only for administrators.',
    levelHintOperator: 'Administrators also open terminals of the level full.',
    reason: 'Reason, required',
    reasonHint: 'Why you open it. Your team sees it in the list of terminals and in the audit log.',
    reasonShort: 'Write at least 3 characters: your team sees why the terminal was opened.',
    open: 'Open the terminal',
    opening: 'Opening',
    signInAgain: 'Sign in again',
  },
  off: {
    title: 'The agent of this router opens no terminals on it.',
    how: 'The administrator of the agent switches them on in agent.yaml, makes the password files, and restarts the agent. Each level is a user of its own on the router. For the level read alone, leave out the lines of full.',
    onRouter: 'In a terminal of the router, with a password for each user and the address of the machine of the agent:',
    routerLabel: 'Lines for the router',
    routerCopied: 'what makes the users',
    routerLines: `/user/group/add name=term-read policy=ssh,read,test
/user/add name=term-read group=term-read password="…" address=192.168.88.10/32
/user/group/add name=term-full policy=ssh,read,write,test,policy,reboot,sniff,sensitive
/user/add name=term-full group=term-full password="…" address=192.168.88.10/32`,
    inConfig: 'In agent.yaml:',
    label: 'Lines of agent.yaml',
    copied: 'the lines of agent.yaml',
    lines: `# of the agent: the highest level that it opens, off, read or full
terminal: full
routers:
  - name: edge-1
    # of this router: its users, one for each level
    terminal:
      read: { username: term-read, password_file: term-read.password }
      full: { username: term-full, password_file: term-full.password }`,
  },
  attached: {
    title: (router: string) => `Terminal on ${router}`,
    recorded: 'Recorded',
    banner: '{router}, level {level}, since {time}: {reason}',
    another: 'Open another',
    end: 'End the terminal',
    endHint: 'Ctrl+F6 brings the keyboard here',
    attachHere: 'Attach here',
    screen: (router: string) => `Terminal of ${router}. Ctrl+F6 leaves it.`,
  },
  keys: {
    label: 'Keys',
    /** What stands on it, its name, and what it sends (ECMA-48, as xterm does). */
    list: [
      ['Tab', 'Tab', '\t'],
      ['Ctrl C', 'Ctrl C', '\u0003'],
      ['Esc', 'Esc', '\u001B'],
      ['↑', 'Up', '\u001B[A'],
      ['↓', 'Down', '\u001B[B'],
    ] as const,
  },
  phase: {
    connecting: 'Connecting',
    away: 'The agent is away. The shell waits for it, five minutes at most.',
    lost: 'The connection is lost. Trying again; no output is lost.',
    elsewhere: 'This terminal is attached in another window.',
    ended: (reason: string) => (reason === '' ? 'The terminal has ended.' : `The terminal has ended: ${reason.replace(/\.$/, '')}.`),
  },
  paste: {
    title: (lines: number) => `Paste ${linesOf(lines)}?`,
    what: 'The router runs each line as soon as its end arrives.',
    cancel: 'Cancel',
    paste: (lines: number) => `Paste ${linesOf(lines)}`,
  },
  recording: {
    title: 'Terminal on {router}',
    note: 'Level {level}, opened by {opener} from {source}, {start}',
    noteEnded: 'Level {level}, opened by {opener} from {source}, {start} to {end}',
    mayNot: 'Administrators play recordings.',
    deleted: 'The recording was deleted: it was older than recordings are kept.',
    nothingYet: 'The router has printed nothing yet.',
    nothing: 'The router has printed nothing.',
    none: 'There is no such recording.',
    what: 'The recording',
    screen: 'Recording of a terminal',
  },
  player: {
    title: 'Player',
    play: 'Play',
    pause: 'Pause',
    position: 'Position in seconds',
    /** Whole seconds. */
    at: (at: string, length: string) => `${at} of ${length} s`,
    speed: 'Speed',
    times: (speed: number) => `${speed}×`,
    pauses: 'Pauses are shortened to two seconds.',
  },
};

function linesOf(count: number): string {
  return `${count} line${count === 1 ? '' : 's'}`;
}
