# The interfaces as JSON, and back.
# run-on: v7
:local rows
:foreach line in=[/interface print as-value where type=ether] do={ :set rows ($rows, {{name=($line->"name")}}) }
:local json [:serialize value=$rows to=json]
:local back [:deserialize value=$json from=json]
:put ([:len $back] . " " . (($back->0)->"name"))
#! output 5 ether1
#! refuse :put [:deserialize value="{broken" from=json] -> failed to parse JSON
#! refuse :put [:serialize value=1 to=yaml] -> invalid value for argument to
