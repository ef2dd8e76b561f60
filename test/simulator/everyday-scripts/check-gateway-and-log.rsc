# Ping the gateway and note the loss.
# run-on: all
:local gateway [/ip route get [find dst-address="0.0.0.0/0"] gateway]
:local received [/ping $gateway count=5]
:log info "gateway $gateway answered $received of 5"
:if ($received < 5) do={ :error "gateway loses packets" }
#! log gateway 203.0.113.1 answered 5 of 5
#! refuse /ping 999.1.1.1 count=1 -> invalid value for argument address
#! refuse /ping count=1 -> missing value(s) of argument(s) address
