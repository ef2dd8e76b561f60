import { countingIn, partsOf } from './catalogue.ts';
import { causesInSpanish } from './causes/es.ts';
import type { Catalogue } from './catalogue.ts';
import type { Moment } from './times.ts';

const { number, count } = countingIn('es');
const routers = (n: number): string => count(n, { one: 'router', other: 'routers' });
const moment = ({ text, elsewhere }: Moment): string => (elsewhere === null ? text : `${text} (${elsewhere})`);
/** One o'clock is singular: "la 01:05", "las 08:31"; a date is "el 22 nov, 08:31". */
const article = ({ hasDate, hour }: Moment): string => {
  if (hasDate) return 'el';
  return hour === 1 ? 'la' : 'las';
};

export const es: Catalogue = {
  locale: 'es',

  prefixes: {
    open: '',
    update: 'Novedad: ',
    resolve: 'Resuelto: ',
    reminder: 'Sigue abierto: ',
    still_open: 'Sigue abierto: ',
    was_away: 'Resuelto: ',
    digest: '',
    escalation: 'Sin responsable: ',
    test: 'Prueba: ',
    flapping: 'Va y viene: ',
    quiet: 'De nuevo tranquilo: ',
    stays_open: 'Persiste: ',
  },
  takenOver: (person) => `${person} se encarga`,
  tones: { critical: 'Crítico', warning: 'Aviso', info: 'Información', good: 'Resuelto' },
  labels: {
    open: 'Abrir en Signalbox',
    confirm: 'Confirmar la dirección',
    reasonOfAdmin: (team) => `Recibe este mensaje porque administra el equipo ${team}.`,
    reasonOfProof: 'Recibe este mensaje porque alguien ha introducido esta dirección en Signalbox.',
    acknowledge: 'Me encargo yo',
    unsubscribe: 'Darse de baja',
    reason: (team, group) =>
      `Recibe este mensaje porque figura en ${group === null ? 'un grupo de notificaciones' : `el grupo de notificaciones ${group}`} del equipo ${team}.`,
  },

  faults: {
    router_offline: 'sin conexión',
    agent_offline: 'agente sin contacto',
    wan_down: 'WAN caída',
    temperature: 'temperatura fuera de rango',
    voltage: 'tensión de alimentación fuera de rango',
    power_supply_failed: 'fuente de alimentación averiada',
    fan_failed: 'ventilador averiado',
    hardware_failed: 'fallo de hardware',
    poe_out_failed: 'salida PoE averiada',
    disk_failing: 'disco a punto de fallar',
    weak_signal: 'señal de radio débil',
    high_cpu: 'carga de CPU alta',
    disk_nearly_full: 'disco casi lleno',
    clock_wrong: 'reloj con hora incorrecta',
    move_requested: 'otro agente reclama este router',
    duplicate_serial: 'número de serie repetido',
    devices_truncated: 'lista de dispositivos recortada',
    rebooted: 'reiniciado',
  },
  tooHot: 'temperatura demasiado alta',
  tooCold: 'temperatura demasiado baja',
  agentAway: 'agente sin contacto',
  agentWasAway: 'el agente estuvo sin contacto',
  agentBack: 'el agente ha vuelto',
  notVisible: (n) => `${routers(n)} sin vigilancia`,
  stillOffline: (stillOpen, all) => `${number(stillOpen)} de ${routers(all)} ${stillOpen === 1 ? 'sigue' : 'siguen'} sin conexión`,
  routersFault: (affected, of, fault) =>
    `${number(affected)} de ${routers(of)}${fault === 'router_offline' ? ' sin conexión' : `: ${es.faults[fault]}`}`,
  jobs: (outcomes) =>
    partsOf(outcomes, [
      ['failed', (n) => count(n, { one: 'tarea fallida', other: 'tareas fallidas' })],
      ['expired', (n) => count(n, { one: 'tarea caducada', other: 'tareas caducadas' })],
      ['unknown', (n) => `${count(n, { one: 'tarea', other: 'tareas' })} con resultado desconocido`],
      ['completed', (n) => count(n, { one: 'tarea completada', other: 'tareas completadas' })],
    ]),
  campaign: {
    started: 'iniciada',
    paused: 'en pausa',
    resumed: 'reanudada',
    canceled: 'cancelada',
    aborted: 'se ha detenido por sí sola',
    completed: 'terminada',
  },
  campaignCounts: (counts) =>
    partsOf(counts, [
      ['failed', (n) => count(n, { one: 'fallo', other: 'fallos' })],
      ['unknown', (n) => `${number(n)} con resultado desconocido`],
      ['expired', (n) => count(n, { one: 'caducado', other: 'caducados' })],
      ['running', (n) => `${number(n)} en curso`],
      ['completed', (n) => count(n, { one: 'completado', other: 'completados' })],
      ['skipped', (n) => count(n, { one: 'omitido', other: 'omitidos' })],
    ]),
  forward: { created: 'reenvío abierto', lost: 'reenvío interrumpido', closed: 'reenvío cerrado' },
  configChanged: 'configuración modificada',
  linesChanged: (added, removed) =>
    `${count(added, { one: 'línea añadida', other: 'líneas añadidas' })}, ${count(removed, { one: 'eliminada', other: 'eliminadas' })}`,
  agentRevoked: 'agente revocado',
  deliveryFails: (address, channel) => `los mensajes a ${address} (${channel}) no llegan`,
  offReasons: {
    bounced: 'El buzón no existe.',
    gone: 'El destinatario dice que esta dirección ya no se usa.',
    blocked: 'El destinatario ha bloqueado estos mensajes.',
    unsubscribed: 'El destinatario se ha dado de baja.',
    no_account: 'A este número no llega nada.',
    key_refused: 'El destinatario rechaza la clave de este servidor.',
  },
  deliveryOf: (group) => `El mensaje era del grupo ${group}.`,
  untilProved: 'No se enviará nada más allí hasta que alguien confirme de nuevo la dirección.',
  channels: { email: 'correo electrónico', webhook: 'webhook', web_push: 'web push' },
  server: { certificate: 'el certificado TLS requiere atención', disk: 'queda poco espacio en disco' },
  contactLost: (affected, of) => `contacto perdido con ${number(affected)} de ${count(of, { one: 'agente', other: 'agentes' })} a la vez`,
  storm: (sites, all) =>
    `${sites === 0 ? '' : `${count(sites, { one: 'sede', other: 'sedes' })}, `}${count(all, { one: 'router afectado', other: 'routers afectados' })}`,
  digest: (events) => count(events, { one: 'suceso', other: 'sucesos' }),
  heldBack: (n) => count(n, { one: 'mensaje más sin enviar', other: 'mensajes más sin enviar' }),

  thisServer: 'Servidor Signalbox',
  thisTeam: (team) => `Equipo ${team}`,
  campaignNamed: (name) => `Campaña ${name}`,

  moment,
  since: (when) => `desde ${article(when)} ${moment(when)}`,
  at: (when) => (when.hasDate ? `el ${moment(when)}` : `a ${article(when)} ${moment(when)}`),
  span: (from, to, duration) => `desde ${article(from)} ${moment(from)} hasta ${article(to)} ${moment(to)}, ${duration}`,

  agentOfSite: (agent) => `El agente es ${agent}.`,
  routersHidden: (n) => `Sin el agente no se ${n === 1 ? 've' : 'ven'} ${routers(n)}. No se sabe si funcionan.`,
  routersBack: (n) => (n === 1 ? 'Su router vuelve a verse.' : `Los ${routers(n)} vuelven a verse.`),
  cause: (observation) => `Causa: ${observation}`,
  causes: causesInSpanish,
  firstWas: (name) => `El primer afectado fue ${name}.`,
  openOf: (open, all) => `${number(open)} de ${number(all)} ${open === 1 ? 'sigue abierto' : 'siguen abiertos'}.`,
  openFor: (duration) => `Abierto desde hace ${duration}.`,
  nobodyAcknowledged: (duration) => `Nadie se encarga desde hace ${duration}.`,
  comesAndGoes: (times, duration) =>
    `Ha ido y venido ${count(times, { one: 'vez', other: 'veces' })} en ${duration}. Volverá a recibir aviso cuando se calme o persista.`,
  quietNow: 'Desde entonces está tranquilo.',
  staysOpen: 'Ya no se resuelve por sí solo.',
  seeConsole: 'Todos están en Signalbox.',
  contactLostReason: 'La causa es probablemente la línea de este servidor, no las sedes.',
  routers,
  more: (n) => `y ${number(n)} más`,

  testSubject: 'Signalbox puede contactarle aquí',
  testOfGroup: (group, person) => `${person} ha probado el grupo de notificaciones ${group}. No ha pasado nada en su red.`,
  testOfAddress: (person) => `${person} ha probado esta dirección. No ha pasado nada en su red.`,
  proofSubject: (code) =>
    code === null ? 'Confirme esta dirección para Signalbox' : `El código ${code} confirma esta dirección para Signalbox`,
  proofBy: (person) => `${person} quiere enviar notificaciones de Signalbox a esta dirección.`,
  proofCode: (code, duration) => `Introduzca este código; es válido durante ${duration}: ${code}`,
  proofLink: (duration) => `Abra el enlace para confirmar; es válido durante ${duration}.`,
  notMe: 'Si no sabe de qué se trata, no haga nada: no recibirá ningún otro mensaje.',
  bot: {
    proved: 'Este chat está confirmado: las notificaciones de Signalbox ya pueden llegarle aquí.',
    linkEnded: 'Este enlace es demasiado antiguo o ya se ha usado; obtenga otro en Signalbox, donde elige cómo se le avisa.',
    noLink: 'Para recibir avisos aquí, abra el enlace que le da Signalbox donde elige cómo se le avisa.',
  },
};
