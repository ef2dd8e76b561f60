import { numberWords } from '../../../parts/sizes.ts';

export const words = {
  title: 'Routers',
  columns: 'Columns',
  saveView: 'Save view',
  /** What the button copies: Copy … */
  address: 'the link',
  removed: 'removed',
  siteNames: 'Names of sites',
  none: 'No agent has told of a router yet.',
  noMatch: 'No router matches. Shorten the filter.',
  noMatchHow: 'No router matches. Filters are written field:value, such as version:<7.15. A part of a name is found without *.',
  filter: {
    label: 'Filter',
    hint: 'Name, serial number, model, IP address',
    fields: 'state: site: agent: model: version: \u00A0 - excludes \u00A0 < compares',
    found: '{shown} of {all}',
  },
  chips: { without: (subject: string, said: string) => `Without ${subject} ${said}`, clear: 'Clear', inView: 'in this view' },
  grid: {
    label: 'Routers',
    select: (router: string) => `Select ${router}`,
    selectAll: (count: number) => `Select all ${numberWords(count)} routers of this view`,
    axis: { start: '24 h ago', middle: '12 h', end: 'now' },
  },
  card: { since: 'since {time}, {model}, {version}', reasonSince: '{reason} since {time}, {model}, {version}' },
  columnsDialog: { title: 'Columns', high: 'High rows', done: 'Done' },
  views: { label: 'Views', all: 'All', remove: (name: string) => `Remove the view ${name}`, removeThis: 'Remove this view' },
  removal: {
    title: (name: string) => `Remove the view ${name}?`,
    remove: 'Remove the view',
    shared: 'Nobody of your team has it then.',
    own: 'The routers stay as they are.',
  },
  save: {
    title: 'Save this view',
    name: 'Name',
    nameHint: 'Filter, order and columns are kept.',
    shared: 'For everybody of the team',
    cancel: 'Cancel',
    save: 'Save',
  },
  held: {
    label: 'Selection',
    all: (count: number) => `All ${numberWords(count)} selected`,
    some: (count: number) => `${numberWords(count)} selected`,
    say: (answering: number, rest: number) =>
      `${numberWords(answering)} ${answering === 1 ? 'answers' : 'answer'} now${rest === 0 ? '' : `, ${numberWords(rest)} will wait or expire`}. The list is fixed when you go on.`,
    onlyShown: (count: number) => `Only the ${count} shown`,
    move: 'Move to a site',
    backUp: 'Back up',
    command: 'Run command',
    script: 'Run script',
    clear: 'Clear',
  },
  bulk: {
    moveTitle: (count: number) => `Move ${these(count)} to a site`,
    move: (count: number) => `Move ${these(count)}`,
    backUp: (count: number) => `Back up ${these(count)}`,
    backUpWhat: 'An export of each router is taken now and kept. Those that do not answer are told below.',
    site: 'Site',
    noSite: 'No site',
    meant: '{names}{answering}',
    meantMore: '{names} and {more} more{answering}',
    answering: (answering: number, all: number) =>
      `. ${numberWords(answering)} of ${numberWords(all)} ${answering === 1 ? 'answers' : 'answer'} now.`,
    progress: (done: number, all: number, failed: number) =>
      `${numberWords(done)} of ${numberWords(all)} done${failed === 0 ? '' : `, ${numberWords(failed)} not`}.`,
    lookAgain: 'Look again',
    cancel: 'Cancel',
    stop: 'Stop',
    close: 'Close',
    maybeDone: 'it may have been done, the answer was lost',
    noAnswer: 'the control plane does not answer',
  },
};

function these(count: number): string {
  return count === 1 ? 'the router' : `${numberWords(count)} routers`;
}
