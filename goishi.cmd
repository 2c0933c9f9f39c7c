@echo off
rem goishi COMMAND ...: makes the environment .venv beside this file on first use, then runs Goishi in it.
rem This script only finds a Python; tools\environment.py does the rest.
setlocal
set "ROOT=%~dp0"
for %%p in ("%ROOT%.venv\Scripts\python.exe" "py -3" "python" "py -3.13" "py -3.12" "py -3.11") do (
  %%~p -I -S -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && (
    %%~p -I "%ROOT%tools\environment.py" %*
    goto done
  )
)
echo goishi: Goishi needs Python 3.11 or newer and found none; install it from https://www.python.org/downloads/ 1>&2
exit /b 1
:done
exit /b %ERRORLEVEL%
