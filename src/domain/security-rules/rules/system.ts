import { effectsThat, lineOf, type Check } from './check.js';

/** Commands that take down what runs outside of the plan, by their words. */
const halts: readonly RegExp[] = [
  /^(?:shutdown|reboot|halt|poweroff|telinit|killall5)(?: |$)/,
  /^init [0-6Ss]$/,
  /^(?:systemctl|loginctl)(?: -\S{1,20})* (?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|isolate|terminate-user|kill-user)(?: |$)/,
  /^kill(?: -\S{1,10}){0,3}(?: --)? (?:-1|1)$/,
  /^kill (?:-s \w{1,10}|-n \d{1,2}) (?:-- )?-1$/,
  /^(?:pkill|killall)(?: -\S{1,10})* (?:\.|\.\*|-u root|-u 0|init|systemd|sshd|dockerd)$/,
  /^pkill(?: -\S{1,10})* -u (?:root|0)(?: |$)/,
];

/** Commands that destroy what lives in a cluster, a cloud or a container engine. */
const infrastructure: readonly RegExp[] = [
  /^(?:docker|podman|nerdctl) (?:system|volume|image|container|network|builder) prune(?: |$)/,
  /^(?:docker|podman|nerdctl) (?:volume|network|secret|config|stack|service|swarm|context) (?:rm|remove|leave)(?: |$)/,
  /^(?:docker|podman)(?: \S{1,80}){0,6} (?:rm|rmi|stop|kill)(?: -\S{1,12}){0,4} \uFFFC/,
  /^(?:kubectl|oc)(?: -\S{1,60}){0,6} (?:delete|drain|evict|cordon)(?: |$)/,
  /^(?:kubectl|oc)(?: \S{1,60}){0,8} (?:replace --force|scale .{0,60}--replicas=0)(?: |$)/,
  /^helm(?: -\S{1,60}){0,6} (?:uninstall|delete)(?: |$)/,
  /^(?:terraform|tofu|terragrunt|pulumi|cdk|sls|serverless)(?: -\S{1,60}){0,6} (?:destroy|remove|state rm)(?: |$)/,
  /^(?:terraform|tofu)(?: \S{1,60}){0,6} -destroy(?: |$)/,
  /^aws(?: \S{1,80}){0,12} (?:delete|terminate|remove|deregister|purge|revoke|disable|rb|rm)(?:-[a-z-]{1,60})?(?: |$)/,
  /^(?:gcloud|az|doctl|oci|ibmcloud|linode-cli|hcloud|fly|flyctl|heroku|vercel|netlify|firebase|eksctl|kops|kind|minikube|k3d|vagrant|multipass)(?: \S{1,80}){0,10} (?:delete|destroy|remove|purge|rm|apps:destroy|pg:reset)(?:-[a-z-]{1,60})?(?: |$)/,
  /^(?:gsutil|s3cmd|mc|s5cmd)(?: -\S{1,20}){0,6} (?:rm|rb|del)(?: |$)/,
  /^rclone (?:delete|purge|cleanup|rmdirs?|sync) .{1,400}:/,
  /^(?:gh|glab)(?: \S{1,80}){0,3} delete(?: |$)/,
  /^(?:npm|cargo|gem) (?:unpublish|yank)(?: |$)/,
  /^(?:virsh) (?:destroy|undefine)(?: |$)/,
  /^(?:crontab -r|atrm |lxc delete|systemctl (?:stop|disable|mask) )/,
];

/** Commands that change something that runs elsewhere, without destroying it. */
const changes: readonly RegExp[] = [
  /^(?:kubectl|oc)(?: -\S{1,60}){0,6} (?:apply|create|patch|edit|replace|scale|rollout|set|label|annotate|expose|run|taint)(?: |$)/,
  /^helm(?: -\S{1,60}){0,6} (?:install|upgrade|rollback)(?: |$)/,
  /^(?:terraform|tofu|terragrunt|pulumi)(?: -\S{1,60}){0,6} (?:apply|up|import|taint)(?: |$)/,
  /^ansible(?:-playbook)? /,
  /^aws(?: \S{1,80}){0,8} (?:create|put|update|run|start|stop|modify|attach|detach|deploy)-[a-z-]{1,60}(?: |$)/,
];

/** Commands that change the machine itself. */
const machine: readonly RegExp[] = [
  /^(?:apt|apt-get|aptitude|yum|dnf|zypper|apk|pacman|brew|snap|flatpak|port|emerge|rpm|dpkg)(?: -\S{1,30}){0,4} (?:install|add|remove|purge|erase|upgrade|dist-upgrade|full-upgrade|autoremove|update|-i|-U|-e|-r|-S\w{0,4}|-R\w{0,4}|del)(?: |$)/,
  /^(?:rpm|dpkg|pacman) -[a-zA-Z]{0,6}(?:[ieUrSR])[a-zA-Z]{0,6} /,
  /^(?:npm|pnpm|bun)(?: \S{1,40}){0,4} (?:-g|--global|--location=global)(?: |$)/,
  /^yarn global add /,
  /^(?:systemctl|service|rc-service|launchctl|initctl)(?: -\S{1,20})* (?:\S{1,60} )?(?:start|stop|restart|reload|disable|mask|daemon-reload)(?: |$)/,
  /^(?:sysctl (?:-w|-p|.{1,80}=)|hostnamectl set|timedatectl set|localectl set|swapoff|swapon|date -s|hwclock )/,
  /^(?:iptables|ip6tables|nft|ufw|firewall-cmd|setenforce|aa-disable|aa-teardown|auditctl|update-crypto-policies) /,
  /^ip (?:link|addr|route|rule) (?:set|add|del|flush)/,
  /^(?:groupadd|groupdel|userdel|update-alternatives|ldconfig|update-rc\.d|chkconfig|update-grub|grub-install)(?: |$)/,
];

const matching = (line: string, patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(line));
const first = (line: string): string => (line.length > 80 ? `${line.slice(0, 80)}…` : line).replaceAll('\uFFFC', '…');

const byWords =
  (patterns: readonly RegExp[], says: (line: string) => string): Check['judge'] =>
  ({ invocation }) => {
    if (
      invocation.args.some(
        ({ text }) => text === '--help' || text === '--dry-run' || text === '--dry-run=client' || text === '--version',
      )
    )
      return [];
    const line = lineOf(invocation);
    return matching(line, patterns) ? [says(first(line))] : [];
  };

export const systemChecks: readonly Check[] = [
  {
    id: 'system-halt',
    title: 'Stops the machine or all that runs on it',
    severity: 'critical',
    confidence: 0.97,
    why: 'Everything else on the machine ends with it, the worker too.',
    advice: 'End the processes that the plan itself started, by their ids.',
    judge: (subject) => {
      if (subject.invocation.machine === 'container') return [];
      const found = byWords(
        halts,
        (line) => `"${line}" stops the machine or processes that are not the plan's.`,
      )(subject);
      const isTrigger = effectsThat(subject, 'write').some(({ path }) => path.text === '/proc/sysrq-trigger');
      return isTrigger ? [...found, 'A write to /proc/sysrq-trigger stops the machine.'] : found;
    },
  },
  {
    id: 'infrastructure-destruction',
    title: 'Destroys infrastructure',
    severity: 'critical',
    confidence: 0.95,
    why: 'Clusters, clouds and container engines are shared, and no snapshot of files brings them back.',
    advice: 'Leave it to a person, in a run with an approval gate.',
    judge: byWords(infrastructure, (line) => `"${line}" removes what is not of the workspace.`),
  },
  {
    id: 'infrastructure-change',
    title: 'Changes infrastructure',
    severity: 'high',
    confidence: 0.8,
    why: 'What runs elsewhere changes at once and is not rolled back.',
    advice: 'Render or plan the change into a file, and apply it after an approval.',
    judge: byWords(changes, (line) => `"${line}" changes what runs elsewhere.`),
  },
  {
    id: 'system-change',
    title: 'Changes the machine',
    severity: 'medium',
    confidence: 0.7,
    why: 'Packages, services, users and firewalls of the machine are shared, and are not rolled back.',
    advice: 'Put what the project needs into its own manifest or image.',
    judge: (subject) =>
      subject.invocation.machine === 'container'
        ? []
        : byWords(machine, (line) => `"${line}" changes the machine itself.`)(subject),
  },
  {
    id: 'remote-history',
    title: 'Rewrites or deletes remote history',
    severity: 'critical',
    confidence: 0.95,
    why: 'Commits of others disappear from the shared repository.',
    advice: 'Push a new commit that reverts; never force.',
    judge: ({ invocation: { program, args } }) => {
      const words = args.map(({ text }) => text);
      const at = words.indexOf('push');
      if (program !== 'git' || at === -1) return [];
      const isForced = words
        .slice(at + 1)
        .some(
          (text) =>
            /^(?:--force(?:-with-lease(?:=.{0,200})?|-if-includes)?|-[a-z]{0,6}[fd][a-z]{0,6}|--delete|--mirror|--prune)$/.test(
              text,
            ) ||
            /^\+./.test(text) ||
            /^:./.test(text),
        );
      return isForced
        ? [`"${first(`git ${words.slice(at).join(' ')}`)}" rewrites or deletes what others have pushed.`]
        : [];
    },
  },
];
