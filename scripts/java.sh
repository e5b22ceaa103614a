#!/usr/bin/env bash
# See to a Java 17+ runtime, which Spark needs: the one at hand, or Debian's package where we may install it.
set -eu

version_of() { "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1; }

java=${JAVA_HOME:+$JAVA_HOME/bin/java}
[ -n "$java" ] && [ -x "$java" ] || java=$(command -v java || true)
if [ -n "$java" ]; then
  found=$(version_of "$java")
  [ "${found:-0}" -ge 17 ] && exit 0
  echo "Java ${found:-of unknown version} at $java is too old for Spark, which needs 17 or newer."
fi

if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "Installing Debian's Java runtime (openjdk, headless) ..."
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null
  for package in openjdk-17-jre-headless openjdk-21-jre-headless default-jre-headless; do
    if apt-get install -y -q --no-install-recommends "$package" >/tmp/weft-java.log 2>&1; then
      exit 0
    fi
  done
  tail -n 5 /tmp/weft-java.log
fi
cat <<'EOF'
Spark needs a Java runtime, 17 or newer, and none was found. Install one and try again:
  Debian, Ubuntu   sudo apt-get install openjdk-17-jre-headless
  Fedora           sudo dnf install java-17-openjdk-headless
  macOS            brew install openjdk@17
or point JAVA_HOME at the one that you have.
EOF
exit 2
