import type { Role } from '../../../session/roles.ts';

/** What each role may do, to the person who has it. */
const MAY: Record<Role, string> = {
  viewer: 'you see its routers, jobs and notifications, and change nothing',
  operator: 'you also run commands and jobs, open forwards and take backups',
  admin: 'you also manage members, keys, agents and sites, and see recordings and the audit log',
};

export const words = {
  tabs: 'You',
  you: 'You',
  notifications: 'Notifications',
  note: (team: string, role: Role) => `In ${team} you are ${role === 'viewer' ? 'a' : 'an'} ${role}: ${MAY[role]}.`,
  signOut: 'Sign out',
  look: {
    title: 'Look and times',
    theme: 'Theme',
    system: 'As the system says',
    light: 'Light',
    dark: 'Dark',
    zone: 'Times in the zone',
    zoneAbout: 'For the pages of the console. Messages and quiet hours have {zone}.',
    zoneOfMessages: 'a zone of their own',
    ofBrowser: (zone: string) => `of this browser (${zone})`,
    view: 'Routers opens with',
    all: 'all routers',
    shared: (view: string) => `${view}, of the team`,
    kept: 'Kept for you in every browser, for this team.',
    notKept: (reason: string) => `Not kept: ${reason}`,
  },
  session: {
    title: 'Session',
    about:
      'You are signed in in this browser until you sign out or close it, and for 12 hours at most. A reload asks for nothing. Signing out ends this session only: forwards, jobs and campaigns of yours go on.',
    team: (team: string) => `${team} is the team that you chose when signing in. If you are in several, sign out and choose another one.`,
  },
  password: {
    title: 'Password',
    about: 'All your sessions end, in every browser and team, this one too: you sign in again with the new password.',
    present: 'Present password',
    next: 'New password',
    nextHint: '8 to 256 characters. A few words that only you would put together are good',
    keep: 'Keep my forwards, waiting jobs and campaigns. Not if somebody else may know the old password',
    act: 'Change password',
  },
  leave: {
    title: (team: string) => `Leave ${team}`,
    about: 'You lose your role and what you have open here. An administrator can invite you again.',
    act: 'Leave the team',
    confirm: (team: string) => `Leave ${team}?`,
    ends: 'What you have opened in this team ends.',
    stays: 'API keys that you made stay. The last administrator cannot leave.',
  },
};
