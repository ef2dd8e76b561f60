import { countingIn, partsOf } from './catalogue.ts';
import { causesInGerman } from './causes/de.ts';
import type { Catalogue } from './catalogue.ts';
import type { Moment } from './times.ts';

const { number, count } = countingIn('de');
// "Router" is the same in the singular and the plural, except behind "of".
const routers = (n: number): string => `${number(n)} Router`;
const ofRouters = (n: number): string => `${number(n)} ${n === 1 ? 'Router' : 'Routern'}`;
const moment = ({ text, elsewhere }: Moment): string => (elsewhere === null ? `${text} Uhr` : `${text} Uhr (${elsewhere})`);

export const de: Catalogue = {
  locale: 'de',

  prefixes: {
    open: '',
    update: 'Neuer Stand: ',
    resolve: 'Vorbei: ',
    reminder: 'Noch offen: ',
    still_open: 'Noch offen: ',
    was_away: 'Vorbei: ',
    digest: '',
    escalation: 'Nicht übernommen: ',
    test: 'Test: ',
    flapping: 'Kommt und geht: ',
    quiet: 'Wieder ruhig: ',
    stays_open: 'Bleibt offen: ',
  },
  takenOver: (person) => `${person} kümmert sich darum`,
  tones: { critical: 'Kritisch', warning: 'Warnung', info: 'Hinweis', good: 'Vorbei' },
  labels: {
    open: 'In Signalbox öffnen',
    confirm: 'Adresse bestätigen',
    reasonOfAdmin: (team) => `Sie erhalten diese Nachricht, weil Sie das Team ${team} verwalten.`,
    reasonOfProof: 'Sie erhalten diese Nachricht, weil jemand diese Adresse in Signalbox eingetragen hat.',
    acknowledge: 'Ich kümmere mich darum',
    unsubscribe: 'Abbestellen',
    reason: (team, group) =>
      `Sie erhalten diese Nachricht, weil Sie in ${group === null ? 'einer Benachrichtigungsgruppe' : `der Benachrichtigungsgruppe ${group}`} des Teams ${team} stehen.`,
  },

  faults: {
    router_offline: 'offline',
    agent_offline: 'Agent nicht erreichbar',
    wan_down: 'WAN ausgefallen',
    temperature: 'Temperatur außerhalb des zulässigen Bereichs',
    voltage: 'Versorgungsspannung außerhalb des zulässigen Bereichs',
    power_supply_failed: 'Netzteil ausgefallen',
    fan_failed: 'Lüfter ausgefallen',
    hardware_failed: 'Hardwarefehler',
    poe_out_failed: 'PoE-Ausgang gestört',
    disk_failing: 'Datenträger vor dem Ausfall',
    weak_signal: 'schwaches Funksignal',
    high_cpu: 'hohe CPU-Last',
    disk_nearly_full: 'Datenträger fast voll',
    clock_wrong: 'Uhr geht falsch',
    move_requested: 'ein anderer Agent beansprucht diesen Router',
    duplicate_serial: 'Seriennummer doppelt vergeben',
    devices_truncated: 'Geräteliste gekürzt',
    rebooted: 'neu gestartet',
  },
  tooHot: 'zu heiß',
  tooCold: 'zu kalt',
  agentAway: 'Agent nicht erreichbar',
  agentWasAway: 'Agent war nicht erreichbar',
  agentBack: 'Agent wieder da',
  notVisible: (n) => `${routers(n)} nicht sichtbar`,
  stillOffline: (stillOpen, all) => `${number(stillOpen)} von ${ofRouters(all)} noch offline`,
  routersFault: (affected, of, fault) =>
    `${number(affected)} von ${ofRouters(of)}${fault === 'router_offline' ? ' offline' : `: ${de.faults[fault]}`}`,
  jobs: (outcomes) =>
    partsOf(outcomes, [
      ['failed', (n) => `${count(n, { one: 'Job', other: 'Jobs' })} fehlgeschlagen`],
      ['expired', (n) => `${count(n, { one: 'Job', other: 'Jobs' })} abgelaufen`],
      ['unknown', (n) => `${count(n, { one: 'Job', other: 'Jobs' })} mit unbekanntem Ausgang`],
      ['completed', (n) => `${count(n, { one: 'Job', other: 'Jobs' })} erledigt`],
    ]),
  campaign: {
    started: 'gestartet',
    paused: 'angehalten',
    resumed: 'fortgesetzt',
    canceled: 'abgebrochen',
    aborted: 'hat sich selbst gestoppt',
    completed: 'abgeschlossen',
  },
  campaignCounts: (counts) =>
    partsOf(counts, [
      ['failed', (n) => `${number(n)} fehlgeschlagen`],
      ['unknown', (n) => `${number(n)} mit unbekanntem Ausgang`],
      ['expired', (n) => `${number(n)} abgelaufen`],
      ['running', (n) => `${number(n)} in Arbeit`],
      ['completed', (n) => `${number(n)} erledigt`],
      ['skipped', (n) => `${number(n)} ausgelassen`],
    ]),
  forward: { created: 'Weiterleitung geöffnet', lost: 'Weiterleitung unterbrochen', closed: 'Weiterleitung geschlossen' },
  configChanged: 'Konfiguration geändert',
  linesChanged: (added, removed) => `${count(added, { one: 'Zeile', other: 'Zeilen' })} hinzugefügt, ${number(removed)} entfernt`,
  agentRevoked: 'Agent gesperrt',
  deliveryFails: (address, channel) => `Nachrichten an ${address} (${channel}) kommen nicht an`,
  offReasons: {
    bounced: 'Das Postfach gibt es nicht.',
    gone: 'Der Empfänger sagt, dass diese Adresse nicht mehr benutzt wird.',
    blocked: 'Der Empfänger hat diese Nachrichten gesperrt.',
    unsubscribed: 'Der Empfänger hat sich abgemeldet.',
    no_account: 'Unter dieser Nummer kommt nichts an.',
    key_refused: 'Der Empfänger lehnt den Schlüssel dieses Servers ab.',
  },
  deliveryOf: (group) => `Die Nachricht kam von der Gruppe ${group}.`,
  untilProved: 'Dorthin geht nichts mehr, bis jemand die Adresse neu bestätigt hat.',
  channels: { email: 'E-Mail', webhook: 'Webhook', web_push: 'Web-Push' },
  server: { certificate: 'das TLS-Zertifikat braucht Aufmerksamkeit', disk: 'der Speicherplatz wird knapp' },
  contactLost: (affected, of) =>
    `Kontakt zu ${number(affected)} von ${count(of, { one: 'Agent', other: 'Agenten' })} gleichzeitig verloren`,
  storm: (sites, all) => `${sites === 0 ? '' : `${count(sites, { one: 'Standort', other: 'Standorte' })}, `}${routers(all)} betroffen`,
  digest: (events) => count(events, { one: 'Ereignis', other: 'Ereignisse' }),
  heldBack: (n) => `${count(n, { one: 'weitere Nachricht', other: 'weitere Nachrichten' })} nicht gesendet`,

  thisServer: 'Signalbox-Server',
  thisTeam: (team) => `Team ${team}`,
  campaignNamed: (name) => `Kampagne ${name}`,

  moment,
  since: (when) => `seit ${when.hasDate ? 'dem ' : ''}${moment(when)}`,
  at: (when) => `${when.hasDate ? 'am' : 'um'} ${moment(when)}`,
  span: (from, to, duration) => `${from.hasDate ? 'vom' : 'von'} ${moment(from)} bis ${to.hasDate ? 'zum ' : ''}${moment(to)}, ${duration}`,

  agentOfSite: (agent) => `Der Agent heißt ${agent}.`,
  routersHidden: (n) =>
    `Ohne den Agenten ${n === 1 ? 'ist 1 Router' : `sind ${routers(n)}`} nicht zu sehen. Ob sie arbeiten, ist nicht bekannt.`,
  routersBack: (n) => (n === 1 ? 'Sein Router ist wieder zu sehen.' : `Alle ${routers(n)} sind wieder zu sehen.`),
  cause: (observation) => `Ursache: ${observation}`,
  causes: causesInGerman,
  firstWas: (name) => `Zuerst betroffen: ${name}.`,
  openOf: (open, all) => `${number(open)} von ${number(all)} noch offen.`,
  openFor: (duration) => `Offen seit ${duration}.`,
  nobodyAcknowledged: (duration) => `Seit ${duration} kümmert sich niemand darum.`,
  comesAndGoes: (times, duration) =>
    `In ${duration} kam und ging es ${number(times)}-mal. Sie hören wieder davon, wenn es ruhig ist oder bleibt.`,
  quietNow: 'Seither ist es ruhig.',
  staysOpen: 'Es geht nicht mehr von selbst vorbei.',
  seeConsole: 'Alle stehen in Signalbox.',
  contactLostReason: 'Der Grund ist vermutlich die Leitung dieses Servers, nicht die Standorte.',
  routers,
  more: (n) => `und ${number(n)} weitere`,

  testSubject: 'Signalbox erreicht Sie hier',
  testOfGroup: (group, person) => `${person} hat die Benachrichtigungsgruppe ${group} getestet. In Ihrem Netz ist nichts passiert.`,
  testOfAddress: (person) => `${person} hat diese Adresse getestet. In Ihrem Netz ist nichts passiert.`,
  proofSubject: (code) =>
    code === null ? 'Bestätigen Sie diese Adresse für Signalbox' : `Der Code ${code} bestätigt diese Adresse für Signalbox`,
  proofBy: (person) => `${person} möchte Benachrichtigungen von Signalbox an diese Adresse senden.`,
  proofCode: (code, duration) => `Geben Sie diesen Code ein. Er gilt ${duration}: ${code}`,
  proofLink: (duration) => `Öffnen Sie zum Bestätigen den Link. Er gilt ${duration}.`,
  notMe: 'Wenn Sie davon nichts wissen, tun Sie nichts: Es kommt dann keine weitere Nachricht.',
  bot: {
    proved: 'Dieser Chat ist bestätigt: Benachrichtigungen von Signalbox erreichen Sie jetzt hier.',
    linkEnded:
      'Dieser Link ist zu alt oder wurde schon benutzt; einen neuen gibt es in Signalbox, wo Sie einstellen, wie Sie benachrichtigt werden.',
    noLink:
      'Um hier benachrichtigt zu werden, öffnen Sie den Link, den Sie in Signalbox bekommen, wo Sie einstellen, wie Sie benachrichtigt werden.',
  },
};
