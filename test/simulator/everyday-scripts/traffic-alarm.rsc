# Warn when an interface is busier than it should be.
# run-on: all
:local now [/interface monitor-traffic ether1 once as-value]
:local bits ($now->"rx-bits-per-second")
:if ($bits > 1000) do={ :log warning "ether1 receives $bits bit/s" }
#! log ether1 receives 9600 bit/s
#! refuse /interface monitor-traffic nosuch once -> input does not match any value of interface
