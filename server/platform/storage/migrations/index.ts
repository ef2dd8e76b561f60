import { initial } from './0001-initial.ts';
import { inventory } from './0002-inventory.ts';
import { notifications } from './0003-notifications.ts';
import { webhooks } from './0004-webhooks.ts';
import { campaigns } from './0005-campaigns.ts';
import { backups } from './0006-backups.ts';
import { campaignJobs } from './0007-campaign-jobs.ts';
import { forwardLimits } from './0008-forward-limits.ts';
import { userSessions } from './0009-user-sessions.ts';
import { keptEvents } from './0010-kept-events.ts';
import { givenPasswords } from './0011-given-passwords.ts';
import { repeatedForwards } from './0012-repeated-forwards.ts';
import { auditDetail } from './0013-audit-detail.ts';
import { revocations } from './0014-revocations.ts';
import { teamLookups } from './0015-team-lookups.ts';
import { refusedForwards } from './0016-refused-forwards.ts';
import { dueByTeam } from './0017-due-by-team.ts';
import { keyClaims } from './0018-key-claims.ts';
import { invitations } from './0019-invitations.ts';
import { routerMoves } from './0020-router-moves.ts';
import { revokedEnrolTokens } from './0021-revoked-enrol-tokens.ts';
import { removedRouters } from './0022-removed-routers.ts';
import { teamQuotas } from './0023-team-quotas.ts';
import { memberSessions } from './0024-member-sessions.ts';
import { keyCallers } from './0025-key-callers.ts';
import { replacementTokens } from './0026-replacement-tokens.ts';
import { lists } from './0027-lists.ts';
import { connectionHistory } from './0028-connection-history.ts';
import { auditOfRouters } from './0033-audit-of-routers.ts';
import { historyAxis } from './0030-history-axis.ts';
import { teamRecords } from './0029-team-records.ts';
import { renewedForwards } from './0031-renewed-forwards.ts';
import { linkSteps } from './0032-link-steps.ts';
import { healthSteps } from './0034-health-steps.ts';
import { agentsRouters } from './0035-agents-routers.ts';
import { requestedBackups } from './0036-requested-backups.ts';
import { search } from './0037-search.ts';
import { keptHistory } from './0038-kept-history.ts';
import { jobTransitions } from './0039-job-transitions.ts';
import { backupSchedules } from './0040-backup-schedules.ts';
import { views } from './0041-views.ts';
import { terminals } from './0042-terminals.ts';
import { smallerJobIndexes } from './0043-smaller-job-indexes.ts';
import { unknownTimes } from './0044-unknown-times.ts';
import { keptRecordings } from './0045-kept-recordings.ts';
import { notices } from './0046-notices.ts';
import { notificationTargets } from './0047-notification-targets.ts';
import { contacts } from './0048-contacts.ts';
import { silences } from './0049-silences.ts';
import { threads } from './0050-threads.ts';
import { messages } from './0051-messages.ts';
import { hotStatements } from './0052-hot-statements.ts';
import { deliveryLog } from './0053-delivery-log.ts';
import { threadCare } from './0054-thread-care.ts';
import { addressBuckets } from './0055-address-buckets.ts';
import { noticesOfARecord } from './0056-notices-of-a-record.ts';
import { threadMembers } from './0057-thread-members.ts';
import { countedJobs } from './0058-counted-jobs.ts';
import { messagesOfARouter } from './0059-messages-of-a-router.ts';
import { toldKinds } from './0060-told-kinds.ts';
import { deletedParents } from './0061-deleted-parents.ts';
import { digests } from './0062-digests.ts';
import { filters } from './0063-filters.ts';
import { probedBuckets } from './0064-probed-buckets.ts';
import { backupsToRecord } from './0065-backups-to-record.ts';
import { nodes } from './0066-nodes.ts';
import { causes } from './0067-causes.ts';
import { members } from './0068-members.ts';
import { nodeStates } from './0069-node-states.ts';
import { keysOfNodes } from './0070-keys-of-nodes.ts';
import { requestCounts } from './0071-request-counts.ts';
import { homes } from './0072-homes.ts';
import { installationAdmins } from './0073-installation-admins.ts';
import { certificatesOfNodes } from './0074-certificates-of-nodes.ts';
import { telegramLinks } from './0075-telegram-links.ts';
import { receipts } from './0076-receipts.ts';
import { terminalLevels } from './0077-terminal-levels.ts';
import { subjectZones } from './0078-subject-zones.ts';
import { deletedGroups } from './0079-deleted-groups.ts';
import { searchPositions } from './0080-search-positions.ts';
import { searchWaiting } from './0081-search-waiting.ts';
import type { Migration } from './types.ts';

/** In order; a new one goes to the end. */
export const migrations: readonly Migration[] = [
  initial,
  inventory,
  notifications,
  webhooks,
  campaigns,
  backups,
  campaignJobs,
  forwardLimits,
  userSessions,
  keptEvents,
  givenPasswords,
  repeatedForwards,
  auditDetail,
  revocations,
  teamLookups,
  refusedForwards,
  dueByTeam,
  keyClaims,
  invitations,
  routerMoves,
  revokedEnrolTokens,
  removedRouters,
  teamQuotas,
  memberSessions,
  keyCallers,
  replacementTokens,
  lists,
  connectionHistory,
  teamRecords,
  historyAxis,
  renewedForwards,
  linkSteps,
  auditOfRouters,
  healthSteps,
  agentsRouters,
  requestedBackups,
  search,
  keptHistory,
  jobTransitions,
  backupSchedules,
  views,
  terminals,
  smallerJobIndexes,
  unknownTimes,
  keptRecordings,
  notices,
  notificationTargets,
  contacts,
  silences,
  threads,
  messages,
  hotStatements,
  deliveryLog,
  threadCare,
  addressBuckets,
  noticesOfARecord,
  threadMembers,
  countedJobs,
  messagesOfARouter,
  toldKinds,
  deletedParents,
  digests,
  filters,
  probedBuckets,
  backupsToRecord,
  nodes,
  causes,
  members,
  nodeStates,
  keysOfNodes,
  requestCounts,
  homes,
  installationAdmins,
  certificatesOfNodes,
  telegramLinks,
  receipts,
  terminalLevels,
  subjectZones,
  deletedGroups,
  searchPositions,
  searchWaiting,
];
