# Take an address apart and put another together.
# run-on: all
:local address "192.168.88.1/24"
:local slash [:find $address "/"]
:local host [:pick $address 0 $slash]
:local bits [:tonum [:pick $address ($slash + 1) [:len $address]]]
:local next ([:toip $host] + 1)
:put "$next/$bits"
:if (("abc" ~ "^a") and !("abc" ~ "z")) do={ :put "matches" }
#! output 192.168.88.2/24
#! output matches
#! refuse :put ("a" + {1}) -> /cannot|invalid|wrong/
