import type { RouterReason } from '../../../../../protocol/index.ts';
import { before } from '../../../../platform/notices/causes.ts';
import type { CauseWords } from '../../../../platform/notices/causes.ts';
import { noAnswer, readingsIn } from './readings.ts';

const { decimal, duration, day } = readingsIn('es');

const NO_ANSWER: Record<RouterReason, string> = {
  starting: 'el agente aún no lo ha alcanzado',
  refused: 'conexión rechazada; ¿está activo el servicio en ese puerto?',
  ssh_refused: 'conexión SSH rechazada; ¿está activo el servicio en ese puerto?',
  timeout: 'sin respuesta al intento de conexión',
  no_route: 'no hay ruta hasta él',
  name_unknown: 'el nombre de host no se conoce',
  login_refused: 'inicio de sesión rechazado',
  tls: 'la conexión TLS ha fallado',
  host_key: 'clave de host SSH inesperada',
  closed: 'el router ha cerrado la conexión',
  credentials: 'las credenciales faltan o no se pueden leer',
  unknown: 'no responde a su agente',
};

export const causesInSpanish: CauseWords = {
  agent_away: () => 'no hay conexión con el agente; no se sabe si el router responde',
  no_answer: ({ reason, said }) => noAnswer(NO_ANSWER, reason, said, (words) => `«${words}»`),
  not_reported: () => 'su agente ya no lo comunica: se eliminó allí, u otro equipo responde en su lugar',
  uptime_back: ({ before, after }) => `tiempo de actividad antes ${duration(before)}, ahora ${duration(after)}`,
  cpu_load: ({ percent }) => `carga del procesador: ${decimal(percent)} %`,
  celsius: ({ name, celsius }) => `${name} marca ${decimal(celsius)} °C`,
  input_volts: ({ volts }) => `alimentación de ${decimal(volts)} V`,
  disk_free: ({ percent, free, total }) => `${decimal(percent)} % libre (${decimal(free / 1024, 0)} de ${decimal(total / 1024, 0)} KiB)`,
  wan_partly: ({ interfaces, left, all }) => `sin conexión en ${interfaces}; en funcionamiento: ${left} de ${all}`,
  wan_none: ({ interfaces }) => `sin conexión en ${interfaces}, y no hay otra`,
  clock_offset: ({ seconds }) => `${seconds < 0 ? 'atrasa' : 'adelanta'} ${duration(Math.abs(seconds))}`,
  part_state: ({ name, state }) => `${name} indica ${state}`,
  part_volts: ({ name, volts }) => `${name} marca ${decimal(volts)} V`,
  fan_stands: ({ name }) => `${name} está parado (0 rpm) mientras otros giran`,
  fan_rpm: ({ name, rpm }) => `${name} gira a ${decimal(rpm)} rpm`,
  poe_status: ({ name, status }) => `${name} indica ${status}`,
  bad_blocks: ({ percent }) => `${decimal(percent)} % de los bloques de la memoria flash son defectuosos`,
  disks_healthy: () => 'todos los discos están bien',
  signal_dbm: ({ name, dbm }) => `${name} recibe ${decimal(dbm)} dBm`,
  not_registered: ({ name }) => `${name} no está registrado en la red`,
  devices_kept: ({ total, most }) =>
    `la tabla ARP y las concesiones DHCP suman ${decimal(total)} dispositivos, y se guardan como máximo ${decimal(most)} por router. ` +
    'Un escaneo de la red o direcciones falsas pueden llenar una tabla ARP: /ip/arp/print count-only',
  claimed_by: ({ agent, address, entry }) => `el agente «${agent}» (${address}) lo comunica como «${entry}»`,
  more_claims: ({ count }) => `${decimal(count)} más`,
  held_by: ({ agent, address, entry }) =>
    `el agente «${agent}» (${address || 'nunca conectado'}) lo tiene como «${entry}». ` +
    'Apruebe el traslado si el router ha cambiado de agente; si no, rechácelo',
  same_serial: ({ holder, others, more, id }) =>
    `${holder} tiene este router; ${others}${more > 0 ? ` y ${decimal(more)} más` : ''} comunica el mismo ID de hardware ${id} ` +
    'y no se gestiona. Si ambos llevan al mismo router, quite uno de la configuración; ' +
    'un CHR clonado necesita un ID nuevo: /system/license/generate-new-id',
  certificate_ends: ({ at, node }) => `${before(node)}caduca el ${day(at)}`,
  certificate_ended: ({ at, node }) => `${before(node)}caducó el ${day(at)}`,
  server_disk: ({ megabytes }) => `quedan ${decimal(megabytes)} MB libres`,
};
