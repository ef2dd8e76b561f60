# Every kind of loop comes to the same sum.
# run-on: all
:local byFor 0; :for i from=1 to=10 do={ :set byFor ($byFor + $i) }
:local byWhile 0; :local n 10; :while ($n > 0) do={ :set byWhile ($byWhile + $n); :set n ($n - 1) }
:local byEach 0; :foreach i in={1;2;3;4;5;6;7;8;9;10} do={ :set byEach ($byEach + $i) }
:local byDo 0; :local m 1; :do { :set byDo ($byDo + $m); :set m ($m + 1) } while=($m <= 10)
:put "$byFor $byWhile $byEach $byDo"
#! output 55 55 55 55
#! refuse :for i from=1 to=x do={} -> invalid value for argument to
#! refuse :foreach in={1} do={} -> /syntax error|expected end of command/
