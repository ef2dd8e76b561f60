# A function that pads numbers, used for a date of one's own.
# run-on: all
:global pad do={
  :local text [:tostr $1]
  :while ([:len $text] < $width) do={ :set text ("0" . $text) }
  :return $text
}
:put ("serial-" . [$pad 7 width=4] . "-" . [$pad 12 width=2])
#! output serial-0007-12
#! refuse :set nosuch 5 -> syntax error
#! refuse :put (1 + -> /syntax error|expected closing/
