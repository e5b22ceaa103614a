#!/usr/bin/env bash
# Bring Spark's Kafka connector and one broker to .kafka/ through Maven: fetch.sh PYTHON
#
# The connector of the installed PySpark is tried first. Where Maven Central has none of that version (it may lag behind),
# an older pair is taken that was tried with PySpark 4.3.
set -eu
cd "$(dirname "$0")/../.."
python=$1
if ! command -v mvn >/dev/null; then
  echo "Kafka's jars come through Maven, and there is no mvn. Debian: sudo apt-get install maven" >&2
  exit 2
fi

copy() { # copy FOLDER POM OPTION...: whole or not at all
  local to=$1 pom=$2
  shift 2
  [ -d "$to" ] && return
  rm -rf "$to.new"
  mvn -B -q -f "scripts/kafka/$pom" "$@" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$PWD/$to.new" && mv "$to.new" "$to"
}

mkdir -p .kafka
spark=$("$python" -c 'import pyspark; print(pyspark.__version__)')
copy .kafka/connector connector.xml -Dspark="$spark" -Dtokens="$spark" >.kafka/log 2>&1 || {
  echo "Maven Central has no whole connector of Spark $spark; taking 4.2.0."
  copy .kafka/connector connector.xml -Dspark=4.2.0 -Dtokens=4.0.0
}
copy .kafka/broker broker.xml
echo "Spark's connector is in .kafka/connector, a broker in .kafka/broker."
