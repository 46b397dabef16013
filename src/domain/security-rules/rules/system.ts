import { shown } from '../shell/text.js';
import type { Invocation } from '../shell/invocation.js';
import { effectsThat, lineOf, type Check } from './check.js';
import { WordTable } from './words.js';

/** Commands that take down what runs outside of the plan. */
const halts = new WordTable([
  { programs: 'shutdown reboot halt poweroff telinit killall5' },
  { programs: 'init', phrase: /^[0-6Ss]$/ },
  {
    programs: 'systemctl loginctl',
    phrase:
      /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|isolate|terminate-user|kill-user)(?: |$)/,
  },
  { programs: 'pkill killall', word: /^(?:\.|\.\*|init|systemd|sshd|dockerd|-1)$/ },
  { programs: 'pkill killall', option: /^(?:root|0)$/ },
]);

/** `kill` of every process, or of the first one. */
const killsAll = ({ program, args }: Invocation): boolean => {
  if (program !== 'kill') return false;
  const words = args.map(({ text }) => text);
  const isSignal = (word: string, index: number): boolean =>
    /^-(?:[A-Z0-9]{1,8}|-signal=.{1,8})$/i.test(word) && index === 0 && words.length > 1;
  return words.some(
    (word, index) =>
      (word === '-1' && !isSignal(word, index)) || (word === '1' && !/^-[sn]$/.test(words[index - 1] ?? '')),
  );
};

/** Commands that destroy what lives in a cluster, a cloud or a container engine. */
const destroys = new WordTable([
  { programs: 'docker podman nerdctl', phrase: /^(?:system|volume|image|container|network|builder) prune(?: |$)/ },
  {
    programs: 'docker podman nerdctl',
    phrase: /^(?:volume|network|secret|config|stack|service|swarm|context) (?:rm|remove|leave)(?: |$)/,
  },
  { programs: 'docker podman nerdctl', phrase: /^(?:container |image |)(?:rm|rmi|stop|kill) \uFFFC/ },
  { programs: 'kubectl oc', word: /^(?:delete|drain|evict|cordon)$/ },
  { programs: 'kubectl oc', phrase: /^replace/, option: /^--force/ },
  { programs: 'kubectl oc', phrase: /^scale/, option: /^(?:--replicas=0|0)$/ },
  { programs: 'helm', phrase: /^(?:uninstall|delete)(?: |$)/ },
  {
    programs: 'terraform tofu terragrunt pulumi cdk sls serverless',
    phrase: /^(?:destroy|remove|state rm|stack rm)(?: |$)/,
  },
  { programs: 'terraform tofu', option: /^-destroy$/ },
  { programs: 'aws', word: /^(?:delete|terminate|remove|deregister|purge|revoke|disable)-|^(?:rb|rm)$/ },
  {
    programs:
      'gcloud az doctl oci ibmcloud linode-cli hcloud fly flyctl heroku vercel netlify firebase eksctl kops kind minikube k3d vagrant multipass',
    word: /^(?:delete|destroy|remove|purge|rm|apps:destroy|pg:reset)$|^(?:delete|destroy|remove|purge)-/,
  },
  { programs: 'gsutil s3cmd mc s5cmd', phrase: /^(?:rm|rb|del)(?: |$)/ },
  { programs: 'rclone', phrase: /^(?:delete|purge|cleanup|rmdir|rmdirs|sync) /, option: /:/ },
  { programs: 'gh glab', word: /^delete$/ },
  { programs: 'npm cargo gem', phrase: /^(?:unpublish|yank)(?: |$)/ },
  { programs: 'virsh', phrase: /^(?:destroy|undefine)(?: |$)/ },
  { programs: 'lxc', phrase: /^delete(?: |$)/ },
  { programs: 'crontab', option: /^-r$/ },
  { programs: 'atrm' },
]);

/** Commands that change something that runs elsewhere, without destroying it. */
const changes = new WordTable([
  {
    programs: 'kubectl oc',
    phrase: /^(?:apply|create|patch|edit|replace|scale|rollout|set|label|annotate|expose|run|taint)(?: |$)/,
  },
  { programs: 'helm', phrase: /^(?:install|upgrade|rollback)(?: |$)/ },
  { programs: 'terraform tofu terragrunt pulumi', phrase: /^(?:apply|up|import|taint)(?: |$)/ },
  { programs: 'ansible ansible-playbook' },
  { programs: 'aws', word: /^(?:create|put|update|run|start|stop|modify|attach|detach|deploy|reboot)-/ },
]);

/** Commands that change the machine itself. */
const machine = new WordTable([
  {
    programs: 'apt apt-get aptitude yum dnf zypper apk pacman brew snap flatpak port emerge',
    phrase:
      /^(?:install|add|remove|purge|erase|upgrade|dist-upgrade|full-upgrade|autoremove|update|del|uninstall)(?: |$)/,
  },
  {
    programs: 'rpm dpkg pacman',
    option: /^-[a-zA-Z]{0,6}[ieUrSR][a-zA-Z]{0,6}$|^--(?:install|upgrade|erase|remove|purge|sync)$/,
  },
  {
    programs: 'npm pnpm bun',
    phrase: /^(?:install|i|add|uninstall|rm|remove|update|link)(?: |$)/,
    option: /^(?:-g|--global|--location=global)$/,
  },
  { programs: 'yarn', phrase: /^global (?:add|remove)/ },
  {
    programs: 'systemctl rc-service launchctl initctl',
    phrase: /^(?:start|stop|restart|reload|disable|mask|daemon-reload|try-restart)(?: |$)/,
  },
  { programs: 'service rc-service', phrase: /^\S{1,80} (?:start|stop|restart|reload)$/ },
  { programs: 'sysctl', option: /^(?:-w|-p|--write|--load|--system)$|=/ },
  { programs: 'hostnamectl timedatectl localectl', word: /^set-/ },
  {
    programs:
      'swapoff swapon hwclock nft ufw firewall-cmd setenforce aa-disable aa-teardown auditctl update-crypto-policies',
  },
  {
    programs: 'iptables ip6tables',
    option: /^(?:-[ADIFPXNRZ]|--(?:append|delete|insert|flush|policy|replace|delete-chain|new-chain))$/,
  },
  { programs: 'ip', phrase: /^(?:link|addr|address|route|rule) (?:set|add|del|delete|flush|change)(?: |$)/ },
  { programs: 'groupadd groupdel userdel groupmod update-alternatives ldconfig update-grub grub-install' },
]);

const says = ({ invocation }: { invocation: Invocation }): string => `"${shown(lineOf(invocation))}"`;

export const systemChecks: readonly Check[] = [
  {
    id: 'system-halt',
    title: 'Stops the machine or all that runs on it',
    severity: 'critical',
    confidence: 0.97,
    why: 'Everything else on the machine ends with it, the worker too.',
    advice: 'End the processes that the plan itself started, by their ids.',
    judge: (subject) => {
      const { invocation } = subject;
      if (invocation.machine === 'container') return [];
      const isTrigger = effectsThat(subject, 'write').some(({ path }) => path.text === '/proc/sysrq-trigger');
      return halts.fits(invocation) || killsAll(invocation) || isTrigger
        ? [`${says(subject)} stops the machine, or processes that are not the plan's.`]
        : [];
    },
  },
  {
    id: 'infrastructure-destruction',
    title: 'Destroys infrastructure',
    severity: 'critical',
    confidence: 0.95,
    why: 'Clusters, clouds and container engines are shared, and no snapshot of files brings them back.',
    advice: 'Leave it to a person, in a run with an approval gate.',
    judge: (subject) =>
      destroys.fits(subject.invocation) ? [`${says(subject)} removes what is not of the workspace.`] : [],
  },
  {
    id: 'infrastructure-change',
    title: 'Changes infrastructure',
    severity: 'high',
    confidence: 0.8,
    why: 'What runs elsewhere changes at once and is not rolled back.',
    advice: 'Render or plan the change into a file, and apply it after an approval.',
    judge: (subject) =>
      changes.fits(subject.invocation) && !destroys.fits(subject.invocation)
        ? [`${says(subject)} changes what runs elsewhere.`]
        : [],
  },
  {
    id: 'system-change',
    title: 'Changes the machine',
    severity: 'medium',
    confidence: 0.7,
    why: 'Packages, services, users and firewalls of the machine are shared, and are not rolled back.',
    advice: 'Put what the project needs into its own manifest or image.',
    judge: (subject) =>
      subject.invocation.machine !== 'container' && machine.fits(subject.invocation)
        ? [`${says(subject)} changes the machine itself.`]
        : [],
  },
  {
    id: 'remote-history',
    title: 'Rewrites or deletes remote history',
    severity: 'critical',
    confidence: 0.95,
    why: 'Commits of others disappear from the shared repository.',
    advice: 'Push a new commit that reverts; never force.',
    judge: (subject) => {
      const { program, args } = subject.invocation;
      const words = args.map(({ text }) => text);
      const at = words.indexOf('push');
      if (program !== 'git' || at === -1) return [];
      const forces =
        /^(?:--force|--force-with-lease|--force-if-includes|--force-with-lease=.*|-[a-z]{0,6}[fd][a-z]{0,6}|--delete|--mirror|--prune|[+:].*)$/;
      return words.slice(at + 1).some((word) => forces.test(word))
        ? [`${says(subject)} rewrites or deletes what others have pushed.`]
        : [];
    },
  },
];
