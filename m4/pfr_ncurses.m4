# PFR_CHECK_NCURSES: the wide ncurses, for 'profres top' on a terminal. Without it
# the command is there all the same and prints frames.
AC_DEFUN([PFR_CHECK_NCURSES],
[AC_ARG_WITH([ncurses],
  [AS_HELP_STRING([--without-ncurses], ['profres top' only prints frames, for batch and dumb terminals])],
  [], [with_ncurses=check])
have_ncurses=no
ncurses_summary="no (--without-ncurses)"
AS_IF([test "$with_ncurses" != no],
  [PKG_CHECK_MODULES([NCURSES], [ncursesw],
    [have_ncurses=yes
     ncurses_summary="$($PKG_CONFIG --modversion ncursesw)"],
    [AS_IF([test "$with_ncurses" = yes],
       [AC_MSG_ERROR([no ncursesw (install libncurses-dev or ncurses-devel)])])
     ncurses_summary="no: 'profres top' prints frames (install libncurses-dev or ncurses-devel)"])])
AS_IF([test "$have_ncurses" = yes],
  [AC_DEFINE([HAVE_NCURSES], [1], [Whether 'profres top' can draw on a terminal.])])])
