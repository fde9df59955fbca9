#!/bin/sh
# The first program inside a User-mode Linux guest. Its read-only root is the machine's own root (hostfs); this script
# lays a tmpfs over it, adds what the machine lacks, shares one folder of the machine at /share, and starts systemd,
# which runs /share/run.sh once and powers off. Set by the kernel command line:
#   SHARE    folder of the machine that the guest may write to
#   LAYER    tree of unpacked Debian packages that the machine has not got, or "none"
#   MODULES  folder with the guest kernel's modules, by version
#   BUSYBOX  a static busybox, for insmod
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
version=$(uname -r)
"$BUSYBOX" insmod "$MODULES/$version/kernel/fs/overlayfs/overlay.ko"
mount -t tmpfs -o size=2G tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
root=/mnt/root

if [ "$LAYER" != none ]; then
  # Packages of Debian 12 still have files in /bin, /sbin and /lib, which are links into /usr on a merged root.
  for folder in bin sbin lib lib64 usr etc; do
    target=$(readlink -f "$root/$folder" || echo "$root/$folder")
    case $target in "$root"/*) ;; *) target="$root/usr/$folder" ;; esac
    if [ -d "$LAYER/$folder" ]; then
      mkdir -p "$target"
      (cd "$LAYER/$folder" && tar -c --exclude=./share/doc .) | tar -x -C "$target"
    fi
  done
  # Alternatives are made when a package is installed, not when it is unpacked.
  [ -e "$root/usr/sbin/iptables" ] || ln -s xtables-legacy-multi "$root/usr/sbin/iptables"
  [ -e "$root/usr/sbin/ip6tables" ] || ln -s xtables-legacy-multi "$root/usr/sbin/ip6tables"
fi
mkdir -p "$root/lib/modules"
ln -sfn "$MODULES/$version" "$root/lib/modules/$version"
mkdir -p "$root/share"
mount -t hostfs none -o "$SHARE" "$root/share"

# Nothing of the machine's own services, file systems and name servers belongs in here.
rm -rf "$root"/etc/systemd/system/*.wants
# The project may lie under /tmp, which systemd would empty at boot.
mkdir -p "$root/etc/tmpfiles.d"
ln -sfn /dev/null "$root/etc/tmpfiles.d/tmp.conf"
: > "$root/etc/fstab"
grep -q '^messagebus:' "$root/etc/passwd" || chroot "$root" systemd-sysusers
cat > "$root/etc/systemd/system/guest.service" <<'UNIT'
[Unit]
After=dbus.socket
Wants=dbus.socket
[Service]
Type=oneshot
ExecStart=/bin/sh -c '/bin/sh /share/run.sh > /share/output 2>&1; echo $? > /share/rc; systemctl poweroff -ff'
TimeoutStartSec=infinity
Delegate=yes
UNIT
cat > "$root/etc/systemd/system/guest.target" <<'UNIT'
[Unit]
Requires=basic.target guest.service
After=basic.target
AllowIsolate=yes
UNIT
umount /sys /proc
cd "$root"
mkdir -p mnt/old
pivot_root . mnt/old
exec chroot . /lib/systemd/systemd systemd.unit=guest.target --unit=guest.target </dev/console >/dev/console 2>&1
