import { firstProgram, placesOnPath } from '../program-path.js';

const managers = {
  'apt-get': 'apt-get install -y',
  dnf: 'dnf install -y',
  apk: 'apk add',
  pacman: 'pacman -S --noconfirm',
  zypper: 'zypper install -y',
};

/** The command that installs a package here, for messages. */
export const howToInstall = async (packageName: string): Promise<string> => {
  for (const [manager, command] of Object.entries(managers)) {
    const places = placesOnPath(manager, '/usr/bin:/bin:/usr/sbin:/sbin');
    if ((await firstProgram(places)) !== null) return `install it: sudo ${command} ${packageName}`;
  }
  return `install the package ${packageName}`;
};
