/* The command people type: one function per subcommand. */
#ifndef PFR_PROFRES_PROFRES_H
#define PFR_PROFRES_PROFRES_H

#define PFR_EXIT_FAILURE 1
#define PFR_EXIT_USAGE 2

/* argv[0] is the subcommand; the exit status. */
int pfr_command_run(int argc, char **argv);
int pfr_command_report(int argc, char **argv);
int pfr_command_ls(int argc, char **argv);
int pfr_command_brief(int argc, char **argv);
int pfr_command_doctor(int argc, char **argv);
int pfr_command_export(int argc, char **argv);
int pfr_command_mark(int argc, char **argv);
int pfr_command_plot(int argc, char **argv);
int pfr_command_metrics(int argc, char **argv);
int pfr_command_top(int argc, char **argv);

#endif
