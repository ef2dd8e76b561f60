import { sentenceCase } from '../parts/sentence-case.ts';

export const words = {
  needsHttps: {
    title: 'Open this page by https',
    why: 'Your browser does not let a page from {origin} sign you in, because the connection is not encrypted.',
    remedy:
      'Give the control plane a certificate ({variable}) or put it behind a reverse proxy with one. On the machine itself, {address} works, too. The command line and the API work from here.',
  },
  notSignedIn: {
    tab: 'Not signed in – Signalbox',
    title: 'You are not signed in',
    why: (reason: string) => (reason === '' ? '' : `${sentenceCase(reason)}.`),
    signIn: 'Sign in',
  },
  signedOut: {
    tab: 'Signed out – Signalbox',
    title: 'You are signed out',
    what: 'This browser shows nothing of your team any more. Forwards, jobs and campaigns of yours go on.',
    again: 'Sign in again',
  },
  somebodyElse: {
    tab: 'Signed in elsewhere – Signalbox',
    title: (team: string) => `This browser is signed in to ${team} now`,
    what: 'In another tab, {person} signed in to {team}. This tab showed another session, and does nothing more.',
    goOn: (team: string) => `Go on in ${team}`,
  },
};
