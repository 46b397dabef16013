import { holeMark } from '../shell/text.js';

/** Files with keys and passwords, at home and in the system; the home folder is written `/~`. */
const secret = [
  /^\/~\/\.ssh(?:$|\/(?!known_hosts|config$|.{1,80}\.pub$))/,
  /^\/~\/\.(?:aws|gnupg|azure|kube|password-store|local\/share\/keyrings|config\/(?:gcloud|gh|hub|op|doctl|rclone)|docker\/config\.json|mozilla|terraform\.d)(?:\/|$)/,
  /^\/~\/\.(?:netrc|npmrc|pypirc|pgpass|my\.cnf|git-credentials|vault-token|boto|s3cfg|bash_history|zsh_history|python_history|psql_history|mysql_history|gem\/credentials|cargo\/credentials(?:\.toml)?)$/,
  /^\/etc\/(?:g?shadow-?|sudoers(?:\.d)?|ssl\/private|ssh\/ssh_host_.{1,40}_key|krb5\.keytab|kubernetes|security\/opasswd)(?:\/|$)/,
  /^\/(?:var\/)?run\/secrets(?:\/|$)/,
  /^\/proc\/(?:\d{1,9}|self|thread-self|\*|\uFFFC)\/environ$/,
  /^\/proc\/kcore$|^\/dev\/k?mem$/,
  /^\/var\/lib\/(?:kubelet|docker|cloud)(?:\/|$)/,
];

/** Files that run by themselves later, at login, at boot or at their hour. */
const persistent = [
  /^\/~\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|xinitrc|xprofile|xsession|pam_environment|inputrc|vimrc|tmux\.conf|config\/(?:fish|autostart|systemd|nvim)|git-templates|ssh\/(?:authorized_keys2?|rc|config))(?:\/|$)/,
  /^\/~\/Library\/Launch(?:Agents|Daemons)(?:\/|$)/,
  /^\/etc\/(?:cron\.?[a-z]{0,8}|crontab|anacrontab|systemd|init|init\.d|rc\.local|rc\d?\.d|profile|profile\.d|bash\.bashrc|bashrc|zsh|environment|ld\.so\.preload|ld\.so\.conf|ld\.so\.conf\.d|udev|xdg\/autostart|update-motd\.d|apt\/apt\.conf\.d)(?:\/|$)/,
  /^\/var\/spool\/(?:cron|at|anacron)(?:\/|$)/,
  /^\/(?:usr\/)?lib\/systemd(?:\/|$)/,
];

/** Files that say who may do what. */
const privileged = [
  /^\/etc\/(?:passwd-?|group-?|g?shadow-?|sudoers|sudoers\.d|doas\.conf|pam\.d|security|subuid|subgid|polkit-1|ssh)(?:\/|$)/,
];

/** Doors from a sandbox into the kernel and into other processes. */
const kernel = [
  /^\/proc\/(?:sys|sysrq-trigger|\d{1,9}\/(?:root|mem|ns|fd|cwd))(?:\/|$)/,
  /^\/sys(?:\/|$)/,
  /^\/proc\/self\/(?:mem|exe)$/,
];

const device =
  /^\/dev\/(?!null$|zero$|full$|tty$|std(?:in|out|err)$|fd(?:\/|$)|shm(?:\/|$)|u?random$|ptmx$|pts(?:\/|$)|tcp\/|udp\/|mqueue(?:\/|$)).{1,200}$/;
const socket =
  /^\/(?:var\/)?run\/(?:docker|containerd\/containerd|podman\/podman|crio\/crio)\.sock$|\/docker\.sock$|^\/(?:var\/)?run$|^\/var$/;

export const isSecretPath = (path: string): boolean => secret.some((pattern) => pattern.test(path));
export const isPersistentPath = (path: string): boolean => persistent.some((pattern) => pattern.test(path));
export const isPrivilegedPath = (path: string): boolean => privileged.some((pattern) => pattern.test(path));
export const isKernelPath = (path: string): boolean => kernel.some((pattern) => pattern.test(path));
export const isDevicePath = (path: string): boolean => device.test(path);
export const isSocketPath = (path: string): boolean => socket.test(path);

/** Files of a workspace that hold its own secrets: they may be used, and not sent away. */
const privateNames: readonly RegExp[] = [
  /(?:^|\/)\.env$/,
  /(?:^|\/)\.env\.(?!example$|sample$|template$|dist$|test$|defaults$)[A-Za-z0-9_-]{1,40}$/,
  /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$/,
  /(?:^|\/)(?:credentials|credentials\.json|\.netrc|\.npmrc|\.pypirc|\.pgpass)$/,
  /(?:^|\/)service-?account[^/]{0,40}\.json$/,
  /(?:^|\/)secrets?\.(?:yaml|yml|json|toml|txt|env)$/,
];
export const isPrivatePath = (path: string): boolean =>
  isSecretPath(path) || privateNames.some((pattern) => pattern.test(path));

/** The whole of a workspace by its names: everything in it, or its history. */
export const isWholeWorkspace = (path: string, workspace: string): boolean => {
  if (path === workspace) return true;
  const rest = path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : undefined;
  return (
    rest !== undefined &&
    (/^(?:[*?]{1,8}|\.[*?]{1,8}|\.\[![.]\][*?]{0,8}|\.git|\*\.\*)$/.test(rest) || rest === `${holeMark}*`)
  );
};
