# Runs the steps of a check, each with a log of its own, and counts what they
# proved. To be sourced, in the root of the repository; bash 3.2 suffices.
#
#   step  NAME KIND COMMAND...   run now
#   start NAME KIND COMMAND...   run beside the next ones
#   settle                       wait for those
#   finish                       print the table, fail if a step failed
#
# KIND says how a log is counted: check (the step itself is the one case), go
# (go test -v), vitest or node (node --test).

RESULTS=test-results
STEPS=$RESULTS/steps.tsv
mkdir -p "$RESULTS"
[ -n "${STEPS_GO_ON:-}" ] || : >"$STEPS"
SETTLING=()

plain() { sed $'s/\x1b\\[[0-9;]*m//g' "$1"; }

figure() { # figure WORD TEXT: the number before WORD, or 0
  local n
  n=$(printf '%s\n' "$2" | sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p; s/^\([0-9][0-9]*\) $1.*/\1/p" | tail -1)
  echo "${n:-0}"
}

count() { # count KIND LOG: passed failed skipped
  local log=$2 line
  case $1 in
    go)
      echo "$(grep -c '^ *--- PASS' "$log")" "$(grep -c '^ *--- FAIL' "$log")" "$(grep -c '^ *--- SKIP' "$log")" ;;
    vitest)
      line=$(plain "$log" | grep -E '^ *Tests ' | tail -1)
      echo "$(figure passed "$line")" "$(figure failed "$line")" "$(figure skipped "$line")" ;;
    node)
      line=$(plain "$log" | grep -E '^(#|ℹ) (pass|fail|skipped) [0-9]+$' | sed 's/^[^a-z]*\([a-z]*\) \([0-9]*\)$/\2 \1/' | tr '\n' ' ')
      echo "$(figure pass "$line")" "$(figure fail "$line")" "$(figure skipped "$line")" ;;
    *) echo 1 0 0 ;;
  esac
}

least() { # the number of cases that a step must not fall below
  awk -v s="$1" '$1 == s {print $2}' test/least.txt 2>/dev/null
}

step() {
  local name=$1 kind=$2 log began code passed failed skipped least
  shift 2
  log=$RESULTS/$name.log
  began=$(date +%s)
  "$@" >"$log" 2>&1 </dev/null
  code=$?
  read -r passed failed skipped <<<"$(count "$kind" "$log")"
  if [ $code != 0 ]; then
    [ "$kind" = check ] && passed=0
    [ "$failed" != 0 ] || failed=1
  fi
  least=$(least "$name")
  if [ $code = 0 ] && [ -n "$least" ] && [ "$passed" -lt "$least" ]; then
    echo "only $passed cases passed; test/least.txt expects $least" >>"$log"
    code=1 failed=$((failed + 1))
  fi
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$code" "$passed" "$failed" "$skipped" $(($(date +%s) - began)) >>"$STEPS"
  if [ $code = 0 ]; then
    echo "ok      $name  ($passed passed, $skipped skipped, $(($(date +%s) - began)) s)"
    [ "$skipped" = 0 ] || grep -A2 -E '^ *--- SKIP' "$log" | sed 's/^/        /' | head -40
  else
    echo "FAILED  $name  ($failed failed, $(($(date +%s) - began)) s): $log"
    if [ "$kind" = go ]; then
      grep -E '^ *--- FAIL|^FAIL|^panic:|DATA RACE|\.go:[0-9]+:' "$log" | tail -60
    fi
    tail -40 "$log"
  fi
  return $code
}

start() {
  step "$@" &
  SETTLING+=($!)
}

settle() {
  local pid code=0
  for pid in ${SETTLING[@]+"${SETTLING[@]}"}; do wait "$pid" || code=1; done
  SETTLING=()
  return $code
}

totals() { # passed failed skipped, over all steps
  awk -F'\t' '{p += $3; f += $4; k += $5} END {print p + 0, f + 0, k + 0}' "$STEPS"
}

finish() {
  settle
  awk -F'\t' 'BEGIN {printf "\n%-24s %8s %8s %8s %8s\n", "step", "passed", "failed", "skipped", "seconds"}
    {printf "%-24s %8d %8d %8d %8d\n", $1, $3, $4, $5, $6}' "$STEPS"
  awk -F'\t' '$2 != 0 {bad = 1} END {exit bad}' "$STEPS"
}
