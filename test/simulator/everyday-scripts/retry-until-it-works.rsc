# Try three times before giving up.
# run-on: v7
:global tries 0
:retry command={ :global tries; :set tries ($tries + 1); :if ($tries < 3) do={ :error "not yet" } } delay=1s max=5
:put "after $tries"
#! output after 3
#! refuse :retry command={:error "never"} delay=1s max=2 -> never
