import type { RouterReason } from '../../../../../protocol/index.ts';
import { before } from '../../../../platform/notices/causes.ts';
import type { CauseWords } from '../../../../platform/notices/causes.ts';
import { noAnswer, readingsIn } from './readings.ts';

const { decimal, duration, day } = readingsIn('de');

const NO_ANSWER: Record<RouterReason, string> = {
  starting: 'der Agent hat ihn noch nicht erreicht',
  refused: 'Verbindung abgelehnt; läuft der Dienst auf diesem Port?',
  ssh_refused: 'SSH-Verbindung abgelehnt; läuft der Dienst auf diesem Port?',
  timeout: 'keine Antwort auf den Verbindungsversuch',
  no_route: 'keine Route dorthin',
  name_unknown: 'der Hostname ist nicht bekannt',
  login_refused: 'Anmeldung abgelehnt',
  tls: 'TLS-Verbindung gescheitert',
  host_key: 'unerwarteter SSH-Host-Schlüssel',
  closed: 'der Router hat die Verbindung geschlossen',
  credentials: 'Zugangsdaten fehlen oder sind nicht lesbar',
  unknown: 'er antwortet seinem Agenten nicht',
};

export const causesInGerman: CauseWords = {
  agent_away: () => 'keine Verbindung zum Agenten; ob der Router antwortet, ist nicht bekannt',
  no_answer: ({ reason, said }) => noAnswer(NO_ANSWER, reason, said, (words) => `„${words}“`),
  not_reported: () => 'der Agent meldet ihn nicht mehr: Er wurde dort entfernt, oder ein anderes Gerät antwortet an seiner Stelle',
  uptime_back: ({ before, after }) => `Betriebszeit vorher ${duration(before)}, jetzt ${duration(after)}`,
  cpu_load: ({ percent }) => `Prozessorlast ${decimal(percent)} %`,
  celsius: ({ name, celsius }) => `${name} misst ${decimal(celsius)} °C`,
  input_volts: ({ volts }) => `Versorgung mit ${decimal(volts)} V`,
  disk_free: ({ percent, free, total }) => `${decimal(percent)} % frei (${decimal(free / 1024, 0)} von ${decimal(total / 1024, 0)} KiB)`,
  wan_partly: ({ interfaces, left, all }) => `keine Verbindung an ${interfaces}; in Betrieb: ${left} von ${all}`,
  wan_none: ({ interfaces }) => `keine Verbindung an ${interfaces}, und es gibt keine andere`,
  clock_offset: ({ seconds }) => `sie geht ${duration(Math.abs(seconds))} ${seconds < 0 ? 'nach' : 'vor'}`,
  part_state: ({ name, state }) => `${name} meldet ${state}`,
  part_volts: ({ name, volts }) => `${name} misst ${decimal(volts)} V`,
  fan_stands: ({ name }) => `${name} steht (0 U/min), während andere drehen`,
  fan_rpm: ({ name, rpm }) => `${name} dreht mit ${decimal(rpm)} U/min`,
  poe_status: ({ name, status }) => `${name} meldet ${status}`,
  bad_blocks: ({ percent }) => `${decimal(percent)} % der Flash-Blöcke sind defekt`,
  disks_healthy: () => 'alle Datenträger sind in Ordnung',
  signal_dbm: ({ name, dbm }) => `${name} empfängt ${decimal(dbm)} dBm`,
  not_registered: ({ name }) => `${name} ist nicht im Netz angemeldet`,
  devices_kept: ({ total, most }) =>
    `ARP-Tabelle und DHCP-Leases nennen ${decimal(total)} Geräte, gespeichert werden höchstens ${decimal(most)} je Router. ` +
    'Ein Netzscan oder gefälschte Adressen können eine ARP-Tabelle füllen: /ip/arp/print count-only',
  claimed_by: ({ agent, address, entry }) => `Agent „${agent}“ (${address}) meldet ihn als „${entry}“`,
  more_claims: ({ count }) => `${decimal(count)} weitere`,
  held_by: ({ agent, address, entry }) =>
    `Agent „${agent}“ (${address || 'nie verbunden'}) führt ihn als „${entry}“. ` +
    'Wurde der Router übergeben, nehmen Sie den Umzug an; sonst lehnen Sie ihn ab',
  same_serial: ({ holder, others, more, id }) =>
    `${holder} hat diesen Router; ${others}${more > 0 ? ` und ${decimal(more)} weitere` : ''} nennt dieselbe Hardware-ID ${id} ` +
    'und wird nicht verwaltet. Führen beide zu einem Router, entfernen Sie einen der Einträge; ' +
    'ein kopierter CHR braucht eine neue ID: /system/license/generate-new-id',
  certificate_ends: ({ at, node }) => `${before(node)}läuft am ${day(at)} ab`,
  certificate_ended: ({ at, node }) => `${before(node)}abgelaufen am ${day(at)}`,
  server_disk: ({ megabytes }) => `noch ${decimal(megabytes)} MB frei`,
};
