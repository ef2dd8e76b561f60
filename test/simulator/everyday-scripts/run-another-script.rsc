# One script calls another and passes a value by a global variable.
# run-on: all
:global place "attic"
/system script add name=note source=":global place; :log info \"at the \$place\""
/system script run note
#! log at the attic
#! check ([/system script get note run-count] = 1)
#! refuse /system script run nosuch -> no such item
#! refuse /system script add name=note source="" -> failure: item with this name already exists
