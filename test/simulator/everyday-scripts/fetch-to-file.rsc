# Fetch a list into a file and look at its size.
# run-on: all
:global webPort
/tool fetch url="http://lists.example:$webPort/list.txt" mode=http dst-path=list.txt
:delay 1s
:local size [/file get list.txt size]
:if ($size = 0) do={ :error "the list is empty" }
#! check ([/file get list.txt contents] = "198.51.100.0/24\n203.0.113.0/24\n")
#! refuse :global webPort; /tool fetch url="http://lists.example:$webPort/missing.txt" dst-path=x -> /(Fetch failed with status 404|closing connection: <404)/
#! check ([:len [/file find name=x]] = 0)
